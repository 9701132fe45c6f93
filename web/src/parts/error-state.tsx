import { Alert, Button, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { ApiError } from '../api.ts';

/** What went wrong where something should have been shown, with a way on. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const message = error instanceof Error ? error.message : 'Something went wrong.';
  const reference = error instanceof ApiError ? error.body.request_id : undefined;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title="This could not be loaded" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        {reference !== undefined && (
          <Text size="xs" c="dimmed">
            Request {reference}
          </Text>
        )}
        {onRetry !== undefined && (
          <Button size="xs" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
