import type { ColumnType, Generated } from 'kysely';
import type { AuditAction, LinkInfo, MemberRole } from '@millrun/web/wire';
import type { RunError, RunStatus, WebhookEvent } from '@millrun/sdk';
import type { Uuid } from '../lib/ids.ts';

/** The tables as Kysely sees them; `migrations/` is what makes them. */
export interface Schema {
  accounts: AccountsTable;
  tokens: TokensTable;
  usage_days: UsageDaysTable;
  usage_by_tool: UsageByToolTable;
  runs: RunsTable;
  idempotency_keys: IdempotencyKeysTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  secrets: { name: string; value: Buffer };
  workers: WorkersTable;
  people: PeopleTable;
  sign_in_methods: SignInMethodsTable;
  sessions: SessionsTable;
  verifications: { expires_at: Date };
  members: MembersTable;
  links: LinksTable;
  audit_entries: AuditEntriesTable;
}

/** A JSON column: written as text, read as a value. */
type JsonColumn<T> = ColumnType<T, string, string>;

interface AccountsTable {
  id: Uuid;
  email: string;
  name: Generated<string>;
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

/** A count that may be beyond 32 bits: text as it is read, so queries cast it. */
type BigCount = ColumnType<string, number, number>;

interface UsageByToolTable {
  account_id: Uuid;
  /** UTC day on which the runs ended. */
  day: string;
  tool: string;
  done: number;
  failed: number;
  cancelled: number;
  bytes_in: BigCount;
  bytes_out: BigCount;
  processing_ms: BigCount;
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
  /** What was sent, without the body; only on the latest attempt that sent anything. */
  request?: { url: string; headers: Record<string, string> };
  /** What came back; only on the latest attempts. */
  response?: { headers: Record<string, string>; body: string; truncated: boolean };
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

interface PeopleTable {
  id: Uuid;
  /** Lower case. */
  email: string;
  email_verified: Generated<boolean>;
  name: Generated<string>;
  admin: Generated<boolean>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface SignInMethodsTable {
  id: Uuid;
  person_id: Uuid;
  provider_id: string;
  subject: string;
  password: string | null;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface SessionsTable {
  id: Uuid;
  person_id: Uuid;
  token: string;
  account_id: Uuid | null;
  address: string | null;
  user_agent: string | null;
  expires_at: Date;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

interface MembersTable {
  account_id: Uuid;
  person_id: Uuid;
  role: MemberRole;
  joined_at: Generated<Date>;
}

interface LinksTable {
  id: Uuid;
  secret_hash: Buffer;
  purpose: LinkInfo['purpose'];
  email: string | null;
  account_id: Uuid | null;
  role: MemberRole | null;
  plan: string | null;
  admin: Generated<boolean>;
  person_id: Uuid | null;
  created_at: Date;
  expires_at: Date;
}

interface AuditEntriesTable {
  id: Uuid;
  account_id: Uuid;
  at: Date;
  action: AuditAction;
  actor: string;
  subject: string;
  address: string;
}
