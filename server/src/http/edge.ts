import type { FastifyRequest } from 'fastify';
import type { Accounts } from '../accounts/accounts.ts';
import type { Administration } from '../accounts/administration.ts';
import type { Attempts } from '../accounts/attempts.ts';
import type { Audit } from '../accounts/audit.ts';
import type { Limits } from '../accounts/limits.ts';
import type { Membership } from '../accounts/membership.ts';
import type { People } from '../accounts/people.ts';
import type { Plans } from '../accounts/plans.ts';
import type { SignIn } from '../accounts/sign-in.ts';
import type { Tokens } from '../accounts/tokens.ts';
import type { FileStore } from '../files/store.ts';
import type { Clock } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { RunEvents } from '../runs/events.ts';
import type { KeyState } from '../runs/idempotency.ts';
import type { Links, LinkSigner } from '../runs/links.ts';
import type { Runs } from '../runs/runs.ts';
import type { Tool } from '../tools/define.ts';
import type { Capabilities } from '../tools/offer.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';

/** What the routes need of the rooms behind them; `compose.ts` fills it in. */
export interface Edge {
  runs: Runs;
  events: RunEvents;
  idempotency: {
    reserve(accountId: Uuid, key: string): Promise<KeyState>;
    free(accountId: Uuid, key: string): Promise<void>;
  };
  webhooks: Webhooks;
  tokens: Tokens;
  limits: Limits;
  attempts: Attempts;
  signIn: SignIn;
  people: People;
  accounts: Accounts;
  audit: Audit;
  membership: Membership;
  administration: Administration;
  plans: Plans;
  openSignUp: boolean;
  defaultPlan: string;
  /** `https://files.example.com`, as the client knows it. */
  originFor(request: FastifyRequest): string;
  store: FileStore;
  signer: LinkSigner;
  tools: readonly Tool[];
  findTool(slug: string): Tool | undefined;
  capabilities(): Promise<Capabilities>;
  linksFor(request: FastifyRequest): Links;
  isOutage(error: unknown): boolean;
  /** Free space below which uploads are refused. */
  reserveBytes: number;
  health(): Promise<Health>;
  /** The Prometheus text. */
  metrics(): Promise<string>;
  metricsToken: string | undefined;
  trustProxy: boolean;
  clock: Clock;
  log: Log;
}

export interface Health {
  ready: boolean;
  /** One word or sentence a part: `ok`, or what is wrong. */
  checks: { database: string; storage: string; worker: string };
  /** The sandbox level of the workers. */
  sandbox: string;
}
