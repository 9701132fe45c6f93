/**
 * What the account page and its own routes (`/account/…`) exchange. The server imports these types and must return them,
 * as it does those of the public API (`sdk/src/types.ts`). They are no part of that API: only a signed-in browser may ask.
 * JSON is snake_case, times are RFC 3339 UTC.
 */

export type MemberRole = 'owner' | 'member';

/** What the sign-in page needs to know, and who is signed in. */
export interface SessionState {
  /** Whether anybody may make an account. */
  open_sign_up: boolean;
  /** The name of the operator's OpenID Connect provider, when there is one. */
  oidc: string | null;
  /** Absent when nobody is signed in. */
  person?: Person;
  /** The account the person works in. */
  account?: AccountSummary;
  /** Every account the person is a member of. */
  accounts?: AccountSummary[];
}

export interface Person {
  id: string;
  email: string;
  /** May see all accounts and set their plans. */
  admin: boolean;
  /** False for a person who only signs in through the provider. */
  has_password: boolean;
}

export interface AccountSummary {
  id: string;
  name: string;
  plan: string;
  /** Whether the plan lets tokens in. */
  api_access: boolean;
  role: MemberRole;
}

export interface Credentials {
  email: string;
  password: string;
}

/** What a one-time link is for; asked with the secret of its fragment. */
export interface LinkInfo {
  purpose: 'first_person' | 'invitation' | 'recovery';
  /** The address it was made for; absent when the person chooses one. */
  email?: string;
  /** The account an invitation leads into; absent when it makes a new one. */
  account_name?: string;
  /** The person exists: a password is asked for, not chosen. */
  existing?: boolean;
  expires_at: string;
}

export interface LinkAnswer {
  secret: string;
  email: string;
  password: string;
}

/** A one-time link that somebody made to pass on. Shown once. */
export interface MadeLink {
  url: string;
  expires_at: string;
}

export interface TokenInfo {
  id: string;
  name: string;
  /** Enough of the start to recognise it. */
  prefix: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
}

export interface NewToken {
  name: string;
  /** RFC 3339; null for never. */
  expires_at: string | null;
}

/** The only reply that shows a token. */
export interface MadeToken extends TokenInfo {
  token: string;
}

export interface SignedInDevice {
  id: string;
  current: boolean;
  /** As the browser names itself. */
  user_agent: string;
  address: string;
  created_at: string;
  last_seen_at: string;
}

export type AuditAction =
  | 'account.created'
  | 'account.renamed'
  | 'account.plan_set'
  | 'person.signed_in'
  | 'person.signed_out_everywhere'
  | 'person.password_changed'
  | 'person.recovered'
  | 'token.created'
  | 'token.rotated'
  | 'token.revoked'
  | 'member.invited'
  | 'member.joined'
  | 'member.role_set'
  | 'member.removed'
  | 'invitation.withdrawn'
  | 'webhook.registered'
  | 'webhook.changed'
  | 'webhook.secret_rotated'
  | 'webhook.removed';

export interface AuditEntry {
  id: string;
  at: string;
  action: AuditAction;
  /** E-mail address, `token <name>`, or `command line`. */
  actor: string;
  /** What it was done to: the name of a token, an address, a plan, the URL of a webhook. */
  subject: string;
  /** Network address of the request; empty for the command line. */
  address: string;
}

export interface AuditPage {
  data: AuditEntry[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface Member {
  id: string;
  email: string;
  role: MemberRole;
  joined_at: string;
}

export interface Invitation {
  id: string;
  /** Null when whoever has the link may choose the address. */
  email: string | null;
  role: MemberRole;
  created_at: string;
  expires_at: string;
}

export interface Membership {
  members: Member[];
  /** Empty for those who are not owners. */
  invitations: Invitation[];
  /** 0 means no limit. */
  most_members: number;
}

export interface AdminAccount {
  id: string;
  name: string;
  email: string;
  plan: string;
  created_at: string;
  members: number;
  runs_today: number;
  runs_30_days: number;
}

export interface AdminAccounts {
  data: AdminAccount[];
  next_cursor: string | null;
  has_more: boolean;
}

export interface PlanInfo {
  name: string;
  api_access: boolean;
  /** 0 means no limit, in each of these. */
  requests_per_minute: number;
  runs_per_day: number;
  max_file_bytes: number;
  max_files: number;
  max_run_bytes: number;
  concurrent_runs: number;
  members: number;
}

/** How the operator has set up the service; an administrator sees it. */
export interface AdminSettings {
  plans: PlanInfo[];
  default_plan: string;
  open_sign_up: boolean;
  oidc: string | null;
}
