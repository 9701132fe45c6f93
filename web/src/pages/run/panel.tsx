import { Group, Stack, Title } from '@mantine/core';
import { useId, type ReactNode } from 'react';

/** A part of the page with its heading, and what can be done with it beside that. */
export function Panel({ title, action, children }: { title: string; action?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <Stack gap="sm" component="section" aria-labelledby={id}>
      <Group justify="space-between" gap="xs" mih={30}>
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {action}
      </Group>
      {children}
    </Stack>
  );
}
