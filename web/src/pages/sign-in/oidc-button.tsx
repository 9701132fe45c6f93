import { Button, Divider } from '@mantine/core';
import { IconLogin2 } from '@tabler/icons-react';

/** The way in through the operator's provider, where there is one. */
export function OidcButton({ provider }: { provider: string }) {
  return (
    <>
      <Button
        component="a"
        href="/account/oidc/start"
        variant="default"
        fullWidth
        leftSection={<IconLogin2 size={18} aria-hidden />}
      >
        Continue with {provider}
      </Button>
      <Divider label="or with a password" />
    </>
  );
}
