create table accounts (
  id uuid primary key,
  email text not null,
  plan text not null,
  created_at timestamptz not null default now(),
  -- Start tag of the account's latest run in the fair order (docs/decisions/0005).
  fair_tag integer not null default 0
);
create unique index accounts_email on accounts (lower(email));

create table tokens (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  name text not null,
  -- SHA-256 of the token: the token itself is nowhere.
  hash bytea not null unique,
  -- Enough of the start to recognise it in a list.
  prefix text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);
create index tokens_account on tokens (account_id, id);

create table usage_days (
  account_id uuid not null references accounts (id) on delete cascade,
  day date not null,
  runs integer not null,
  primary key (account_id, day)
);

-- The virtual clock of the fair order: the highest start tag that was claimed. A sequence, because it is written outside
-- of any transaction and never locks.
create sequence fair_clock minvalue 0 start 0;

create sequence worker_numbers as integer cycle;

create table runs (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  tool text not null,
  status text not null check (status in ('queued', 'processing', 'done', 'failed')),
  -- What the owner is shown: no passwords.
  settings json not null,
  -- The form as it was sent, which the tool reads again: passwords are in here.
  form json not null,
  inputs jsonb not null,
  outputs jsonb,
  error jsonb,
  progress integer not null default 0,
  -- The fencing token: whoever holds the latest attempt may settle the run.
  attempt integer not null default 0,
  lost_attempts integer not null default 0,
  -- Advisory lock number (from worker_numbers) of the worker that executes it.
  worker integer,
  fair_tag integer not null,
  -- The day whose quota it counts against.
  day date not null,
  -- End of the safety window: an earlier worker may still be exiting until then.
  unsafe_until timestamptz,
  created_at timestamptz not null,
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  -- Files are gone: after retention, the record stays for a while.
  files_removed boolean not null default false
);
-- In the order runs were accepted: an id is as old as the begin of its upload.
create index runs_of_account on runs (account_id, created_at desc, id desc);
create index runs_of_account_by_status on runs (account_id, status, created_at desc, id desc);
create index runs_of_account_by_tool on runs (account_id, tool, created_at desc, id desc);
create index runs_queued on runs (fair_tag, id) where status = 'queued';
create index runs_processing on runs (worker) where status = 'processing';
create index runs_expiring on runs (expires_at) where not files_removed;

create table idempotency_keys (
  account_id uuid not null references accounts (id) on delete cascade,
  key text not null,
  -- SHA-256 over tool, fields and files; absent while the request is still being received.
  fingerprint bytea,
  -- json, not jsonb: a replay is the same reply to the letter.
  response json,
  created_at timestamptz not null default now(),
  primary key (account_id, key)
);

create table webhooks (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  url text not null,
  events text[] not null,
  secret text not null,
  previous_secret text,
  previous_secret_until timestamptz,
  enabled boolean not null default true,
  disabled_reason text,
  created_at timestamptz not null
);
create index webhooks_of_account on webhooks (account_id, id);

create table webhook_deliveries (
  id uuid primary key,
  webhook_id uuid not null references webhooks (id) on delete cascade,
  account_id uuid not null,
  event_id uuid not null,
  event_type text not null,
  run_id uuid,
  payload jsonb not null,
  state text not null check (state in ('pending', 'delivered', 'failed')),
  attempts jsonb not null default '[]',
  next_attempt_at timestamptz,
  created_at timestamptz not null,
  -- One stored delivery per event and receiver, whatever is tried twice.
  unique (webhook_id, event_id)
);
create index webhook_deliveries_newest on webhook_deliveries (webhook_id, id desc);

-- Keys the service makes for itself, such as the one that signs download addresses.
create table secrets (
  name text primary key,
  value bytea not null
);

-- The counters of rate-limiter-flexible, in its own shape; worth nothing after a crash.
create unlogged table rate_limits (
  key varchar(255) primary key,
  points integer not null default 0,
  expire bigint
);

-- What each worker can do, so that an API on another machine offers what will work. A row whose session lock is gone is
-- removed by another worker.
create table workers (
  number integer primary key,
  sandbox text not null,
  -- Engine id to version.
  engines jsonb not null,
  reported_at timestamptz not null default now()
);
