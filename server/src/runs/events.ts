import { notify, type Db, type Tx } from '../db/database.ts';
import type { Uuid } from '../lib/ids.ts';

/** PostgreSQL channels that tell every process what has happened. */
export const channels = {
  /** A run has changed; the payload is its UUID and its status. */
  run: 'millrun_run',
  /** A run was queued: workers look. */
  queued: 'millrun_queued',
  /** A processing run was cancelled; the payload is its UUID. */
  cancelled: 'millrun_cancelled',
} as const;

export function announceQueued(tx: Tx | Db): Promise<void> {
  return notify(tx, channels.queued, '');
}

export function announceCancel(tx: Tx | Db, id: Uuid): Promise<void> {
  return notify(tx, channels.cancelled, id);
}

/** Who in this process waits for a run to change. */
export interface RunEvents {
  /** Calls back on every change with the new status, without one when changes may have been missed; returns the way out. */
  subscribe(id: Uuid, onChange: OnChange): () => void;
  /** A run has changed; the message as it came through the channel. */
  publish(message: string): void;
  /** Changes may have been missed: everybody looks again. */
  publishAll(): void;
}

type OnChange = (status?: string) => void;

export function createRunEvents(): RunEvents {
  const subscribers = new Map<Uuid, Set<OnChange>>();
  return {
    subscribe(id, onChange) {
      const group = subscribers.get(id) ?? new Set();
      subscribers.set(id, group.add(onChange));
      return () => {
        group.delete(onChange);
        if (group.size === 0 && subscribers.get(id) === group) subscribers.delete(id);
      };
    },
    publish(message) {
      const [id = '', status] = message.split(' ');
      for (const onChange of subscribers.get(id) ?? []) onChange(status);
    },
    publishAll() {
      for (const group of subscribers.values()) for (const onChange of group) onChange();
    },
  };
}
