import { notify, type Db, type Tx } from '../db/database.ts';
import type { Uuid } from '../lib/ids.ts';

/** PostgreSQL channels that tell every process what has happened. */
export const channels = {
  /** A run has changed; the payload is its UUID. */
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
  /** Calls back on every change, and when changes may have been missed; returns the way out. */
  subscribe(id: Uuid, onChange: () => void): () => void;
  /** A run has changed. */
  publish(id: Uuid): void;
  /** Changes may have been missed: everybody looks again. */
  publishAll(): void;
}

export function createRunEvents(): RunEvents {
  const subscribers = new Map<Uuid, Set<() => void>>();
  return {
    subscribe(id, onChange) {
      const group = subscribers.get(id) ?? new Set();
      subscribers.set(id, group.add(onChange));
      return () => {
        group.delete(onChange);
        if (group.size === 0 && subscribers.get(id) === group) subscribers.delete(id);
      };
    },
    publish(id) {
      for (const onChange of subscribers.get(id) ?? []) onChange();
    },
    publishAll() {
      for (const group of subscribers.values()) for (const onChange of group) onChange();
    },
  };
}
