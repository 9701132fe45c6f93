import { Button, Group } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Page } from '../../parts/page.tsx';

export default function NotFoundPage() {
  return (
    <Page title="Not found">
      <EmptyState
        icon={<IconMapOff size={24} />}
        title="There is nothing at this address"
        action={
          <Group gap="xs" justify="center">
            <Button component={Link} href="/tools">
              Go to the tools
            </Button>
            <Button component={Link} href="/runs" variant="default">
              Show your runs
            </Button>
          </Group>
        }
      >
        The address may be mistyped, or what was here has been deleted.
      </EmptyState>
    </Page>
  );
}
