alter table accounts add column name text not null default '';
update accounts set name = email;

-- Who can sign in. The columns of people, sign_in_methods, sessions and verifications are those of better-auth
-- (docs/decisions/0020), under our names.
create table people (
  id uuid primary key,
  -- Lower case.
  email text not null unique,
  email_verified boolean not null default false,
  name text not null default '',
  image text,
  -- May see every account and set its plan.
  admin boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table sign_in_methods (
  id uuid primary key,
  person_id uuid not null references people (id) on delete cascade,
  -- `credential` for a password, or the operator's OpenID Connect provider.
  provider_id text not null,
  -- Who the person is there.
  subject text not null,
  -- scrypt, with its salt.
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider_id, subject)
);
create index sign_in_methods_of_person on sign_in_methods (person_id);

create table sessions (
  id uuid primary key,
  person_id uuid not null references people (id) on delete cascade,
  -- Worth nothing without the signature in the cookie, whose key is in `secrets`.
  token text not null unique,
  -- The account the person works in; another of theirs when it is gone.
  account_id uuid references accounts (id) on delete set null,
  address text,
  user_agent text,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index sessions_of_person on sessions (person_id);
create index sessions_expiring on sessions (expires_at);

create table verifications (
  id uuid primary key,
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

create table members (
  account_id uuid not null references accounts (id) on delete cascade,
  person_id uuid not null references people (id) on delete cascade,
  role text not null check (role in ('owner', 'member')),
  joined_at timestamptz not null default now(),
  primary key (account_id, person_id)
);
create index members_of_person on members (person_id);

-- One-time links: the first person, an invitation, a lost password.
create table links (
  id uuid primary key,
  -- SHA-256 of what stands in the link.
  secret_hash bytea not null unique,
  purpose text not null check (purpose in ('first_person', 'invitation', 'recovery')),
  -- Absent when the person chooses one.
  email text,
  -- Where an invitation leads; absent when it makes a new account, on `plan`.
  account_id uuid references accounts (id) on delete cascade,
  role text,
  plan text,
  -- Makes an administrator of who uses it.
  admin boolean not null default false,
  person_id uuid references people (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index links_of_account on links (account_id);

create table audit_entries (
  id uuid primary key,
  account_id uuid not null references accounts (id) on delete cascade,
  at timestamptz not null,
  action text not null,
  -- As it was then: an e-mail address, or `command line`.
  actor text not null,
  subject text not null,
  address text not null
);
create index audit_entries_of_account on audit_entries (account_id, id desc);
