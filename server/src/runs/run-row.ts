import type { Selectable } from 'kysely';
import type { Schema } from '../db/schema.ts';

/** A run as every read returns it. */
export type RunRow = Omit<Selectable<Schema['runs']>, 'fair_tag'> & {
  /** Null for a run that is not queued. */
  queue_position: number | null;
};
