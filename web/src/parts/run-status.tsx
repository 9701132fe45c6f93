import { Badge, Progress } from '@mantine/core';
import { IconBan, IconCheck, IconClock, IconLoader2, IconX, type Icon } from '@tabler/icons-react';
import type { Run } from '@millrun/sdk';
import classes from './run-status.module.css';

type Shown = Pick<Run, 'status' | 'progress' | 'queue_position' | 'error'>;

interface Look {
  label: string;
  color: string;
  icon: Icon;
}

const looks = {
  queued: { label: 'Queued', color: 'gray', icon: IconClock },
  processing: { label: 'Processing', color: 'blue', icon: IconLoader2 },
  done: { label: 'Done', color: 'green', icon: IconCheck },
  failed: { label: 'Failed', color: 'red', icon: IconX },
  cancelled: { label: 'Cancelled', color: 'gray', icon: IconBan },
} as const satisfies Record<string, Look>;

function lookOf({ status, error }: Shown): Look {
  return error?.code === 'cancelled' ? looks.cancelled : looks[status];
}

/** The state of a run in words: `Queued, number 3`, `Processing, 40 %`, `Cancelled`. */
export function statusText(run: Shown): string {
  const { label } = lookOf(run);
  if (run.status === 'queued' && run.queue_position !== undefined) return `${label}, number ${run.queue_position}`;
  if (run.status === 'processing' && run.progress !== undefined) return `${label}, ${run.progress} %`;
  return label;
}

/** The state of a run as a word, a colour and a sign. A cancelled run is told from one that failed. */
export function RunStatus({ run, size = 'md' }: { run: Shown; size?: 'md' | 'lg' }) {
  const { label, color, icon: Sign } = lookOf(run);
  return (
    <Badge
      component="span"
      color={color}
      variant="light"
      size={size}
      radius="sm"
      tt="none"
      className={classes['badge'] ?? ''}
      mod={{ quiet: color === 'gray' }}
      leftSection={
        <Sign
          size={size === 'lg' ? 14 : 12}
          stroke={2.4}
          aria-hidden
          className={run.status === 'processing' ? classes['turning'] : ''}
        />
      }
    >
      {label}
    </Badge>
  );
}

/** How far a run is, while it is being processed; an empty place of the same height otherwise. */
export function RunProgress({ run, label }: { run: Shown; label: string }) {
  if (run.status !== 'processing') return <div className={classes['place']} aria-hidden />;
  return (
    <Progress.Root size={6} className={classes['place']}>
      <Progress.Section value={run.progress ?? 0} color="blue" aria-label={label} />
    </Progress.Root>
  );
}
