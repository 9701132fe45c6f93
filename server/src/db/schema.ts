import type { ColumnType, Generated } from 'kysely';
import type { RunError, RunStatus, WebhookEvent } from '@millrun/sdk';
import type { Uuid } from '../lib/ids.ts';

/** The tables as Kysely sees them; `migrations/` is what makes them. */
export interface Schema {
  accounts: AccountsTable;
  tokens: TokensTable;
  usage_days: UsageDaysTable;
  runs: RunsTable;
  idempotency_keys: IdempotencyKeysTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  secrets: { name: string; value: Buffer };
  workers: WorkersTable;
}

/** A JSON column: written as text, read as a value. */
type JsonColumn<T> = ColumnType<T, string, string>;

interface AccountsTable {
  id: Uuid;
  email: string;
  plan: string;
  created_at: Generated<Date>;
  fair_tag: Generated<number>;
}

interface TokensTable {
  id: Uuid;
  account_id: Uuid;
  name: string;
  hash: Buffer;
  prefix: string;
  created_at: Generated<Date>;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
}

interface UsageDaysTable {
  account_id: Uuid;
  day: string;
  runs: number;
}

export interface StoredInput {
  filename: string;
  size_bytes: number;
  /** A `FileTypeId`. */
  type: string;
  key: string;
}

export interface StoredOutput {
  filename: string;
  size_bytes: number;
  media_type: string;
  sha256: string;
  key: string;
}

interface RunsTable {
  id: Uuid;
  account_id: Uuid;
  tool: string;
  status: RunStatus;
  settings: JsonColumn<Record<string, unknown>>;
  form: JsonColumn<Record<string, string>>;
  inputs: JsonColumn<StoredInput[]>;
  outputs: ColumnType<StoredOutput[] | null, string | null, string | null>;
  error: ColumnType<RunError | null, string | null, string | null>;
  progress: Generated<number>;
  attempt: Generated<number>;
  lost_attempts: Generated<number>;
  worker: number | null;
  fair_tag: number;
  day: string;
  unsafe_until: Date | null;
  created_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  expires_at: Date | null;
  files_removed: Generated<boolean>;
}

interface IdempotencyKeysTable {
  account_id: Uuid;
  key: string;
  fingerprint: Buffer | null;
  response: ColumnType<Record<string, unknown> | null, string | null, string | null>;
  created_at: Generated<Date>;
}

interface WebhooksTable {
  id: Uuid;
  account_id: Uuid;
  url: string;
  events: WebhookEvent[];
  secret: string;
  previous_secret: string | null;
  previous_secret_until: Date | null;
  enabled: Generated<boolean>;
  disabled_reason: string | null;
  created_at: Date;
}

export interface StoredAttempt {
  at: string;
  status?: number;
  error?: string;
  duration_ms: number;
}

interface WebhookDeliveriesTable {
  id: Uuid;
  webhook_id: Uuid;
  account_id: Uuid;
  event_id: Uuid;
  event_type: string;
  run_id: Uuid | null;
  payload: JsonColumn<Record<string, unknown>>;
  state: 'pending' | 'delivered' | 'failed';
  attempts: JsonColumn<StoredAttempt[]>;
  next_attempt_at: Date | null;
  created_at: Date;
}

interface WorkersTable {
  number: number;
  sandbox: string;
  engines: JsonColumn<Record<string, string>>;
  reported_at: Generated<Date>;
}
