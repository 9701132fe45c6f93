import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconBan } from '@tabler/icons-react';
import type { Run } from '@millrun/sdk';
import { meaningOf } from '../../parts/run-errors.ts';

/** Why there is no result, what that means, and what to do. */
export function Failure({ run }: { run: Run }) {
  const { code = 'internal', message = '' } = run.error ?? {};
  const { title, meaning } = meaningOf(code);
  const cancelled = code === 'cancelled';
  return (
    <Alert
      color={cancelled ? 'gray' : 'red'}
      icon={cancelled ? <IconBan aria-hidden /> : <IconAlertTriangle aria-hidden />}
      title={title}
    >
      <Stack gap="xs">
        {!cancelled && (
          <Text size="sm" fw={500}>
            {message}
          </Text>
        )}
        <Text size="sm">{meaning}</Text>
      </Stack>
    </Alert>
  );
}
