import { Button } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { Link } from 'wouter';

/** The way back from one of a list to the list. */
export function BackButton({ href, children }: { href: string; children: string }) {
  return (
    <Button
      component={Link}
      href={href}
      variant="subtle"
      color="gray"
      leftSection={<IconArrowLeft size={16} aria-hidden />}
    >
      {children}
    </Button>
  );
}
