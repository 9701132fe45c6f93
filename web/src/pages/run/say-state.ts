import type { Run } from '@millrun/sdk';

/** The state of a run for those who cannot see it change: each stage, and progress in quarters. */
export function sayState(run: Pick<Run, 'status' | 'progress' | 'outputs' | 'error'>): string {
  switch (run.status) {
    case 'queued':
      return 'In the queue.';
    case 'processing':
      return `Processing, ${Math.floor((run.progress ?? 0) / 25) * 25} per cent.`;
    case 'done':
      return 'Done.';
    case 'failed':
      return run.error?.code === 'cancelled' ? 'Cancelled.' : `Failed: ${run.error?.message ?? ''}`;
  }
}
