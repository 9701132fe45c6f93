import { Group, Paper, Progress, Stack, Text } from '@mantine/core';
import type { Run } from '@millrun/sdk';

/** How far a run is that has not ended. */
export function UnderWay({ run, connected }: { run: Run; connected: boolean }) {
  const queued = run.status === 'queued';
  const percent = run.progress ?? 0;
  const unknown = queued || percent === 0;
  return (
    <Paper withBorder p="lg">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Text fw={600}>{queued ? sayPlace(run.queue_position) : 'Processing'}</Text>
          {!queued && (
            <Text fw={600} style={{ fontVariantNumeric: 'tabular-nums' }}>
              {percent} %
            </Text>
          )}
        </Group>
        <Progress
          value={unknown ? 100 : percent}
          size="lg"
          color={queued ? 'gray' : 'blue'}
          striped={unknown}
          animated={unknown}
          transitionDuration={200}
          aria-label="Progress"
          {...(unknown && { 'aria-valuetext': queued ? 'In the queue' : 'Started' })}
        />
        <Text size="sm" c="dimmed">
          {connected
            ? 'It goes on when you leave this page.'
            : 'The connection was lost. The run goes on; connecting again.'}
        </Text>
      </Stack>
    </Paper>
  );
}

function sayPlace(place: number | undefined): string {
  if (place === undefined) return 'Waiting for a free worker';
  return place === 1 ? 'Starts next' : `Number ${place} in the queue`;
}
