import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import { defaultPlans, parsePlans, type Plans } from './accounts/plans.ts';
import type { OidcProvider } from './accounts/sign-in.ts';
import type { SandboxPolicy } from './sandbox/sandbox.ts';

/** The settings of one process. Rooms receive values, never names of variables. */
export interface Config {
  host: string;
  port: number;
  /** `https://files.example.com`; without it addresses follow the request's `Host`. */
  publicUrl: string | undefined;
  trustProxy: boolean;
  databaseUrl: string | undefined;
  dataDirectory: string;
  logLevel: string;
  sandbox: SandboxPolicy;
  isolation: 'account' | 'run';
  /** Runs this worker executes at once. */
  slots: number;
  /** Memory one process of a run may allocate. */
  runMemoryBytes: number;
  /** Largest file an engine may write. */
  runFileBytes: number;
  cancelWindowSeconds: number;
  retentionHours: number;
  /** How long a stop waits for running work. */
  drainSeconds: number;
  /** Uploads are refused when the disk would have less than this free. */
  reserveBytes: number;
  webhookAllow: readonly string[];
  /** Whether tools may fetch web pages, and which addresses although they are not public. */
  fetch: 'public' | 'off';
  fetchAllow: readonly string[];
  metricsToken: string | undefined;
  plans: Plans;
  /** Anybody may make an account; otherwise only who has a link. */
  openSignUp: boolean;
  /** The plan of an account that is made by sign-up. */
  defaultPlan: string;
  oidc: OidcProvider | undefined;
  /** npm started us and waits for us: when it is gone, so is the terminal. */
  startedByNpm: boolean;
}

/**
 * A worker that lost its run is noticed and its sandbox killed within this many seconds: a cancel reaches it by
 * notification or at its next look at the database (1 s apart, 2 s with a slow reply), and SIGKILL clears a sandbox in
 * milliseconds (1 s allowed). The safety window must be longer.
 */
export const fenceSeconds = 3;

interface Variable<T> {
  describe: string;
  /** What stands in the documentation as the default. */
  shown: string;
  parse(text: string | undefined): T;
}

class Problem extends Error {}

function whole(min: number, max: number, fallback: number): Variable<number>['parse'] {
  return (text) => {
    if (text === undefined) return fallback;
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new Problem(`must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return value;
  };
}

function oneOf<const T extends string>(of: readonly T[], fallback: T): (text: string | undefined) => T {
  return (text) => {
    if (text === undefined) return fallback;
    const value = of.find((candidate) => candidate === text);
    if (value === undefined) throw new Problem(`must be one of ${of.join(', ')}, not "${text}"`);
    return value;
  };
}

const asText = (text: string | undefined): string | undefined => text;
const asList = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function asUrl(protocols: readonly string[]): (text: string | undefined) => string | undefined {
  return (text) => {
    if (text === undefined) return undefined;
    const url = URL.parse(text);
    if (url === null || !protocols.includes(url.protocol))
      throw new Problem(`must be a URL that starts with ${protocols.join('// or ')}//`);
    return text.replace(/\/+$/, '');
  };
}

function asPlans(text: string | undefined): Plans {
  if (text === undefined) return defaultPlans;
  const parsed = parsePlans(text);
  if (typeof parsed === 'string') throw new Problem(parsed);
  return parsed;
}

const mebibyte = 1024 * 1024;

/** Every variable the service reads, in the order of the documentation (`docs/configuration.md` is made from it). */
export const variables = {
  HOST: { describe: 'Address to listen on.', shown: '127.0.0.1', parse: (text) => text ?? '127.0.0.1' },
  PORT: { describe: 'Port to listen on; 0 takes a free one.', shown: '8080', parse: whole(0, 65_535, 8080) },
  DATABASE_URL: {
    describe: 'Your own PostgreSQL (14 or newer). Without it the service runs one of its own in the data directory.',
    shown: 'embedded',
    parse: asUrl(['postgres:', 'postgresql:']),
  },
  MILLRUN_DATA_DIR: {
    describe: 'Where files and the embedded database live.',
    shown: './data',
    parse: (text) => resolve(text ?? 'data'),
  },
  MILLRUN_PUBLIC_URL: {
    describe:
      'Address people reach the service at, for absolute URLs. Without it they follow the `Host` of the request.',
    shown: 'from the request',
    parse: asUrl(['http:', 'https:']),
  },
  MILLRUN_TRUST_PROXY: {
    describe: 'Whether `X-Forwarded-*` of the proxy in front is believed.',
    shown: 'no',
    parse: oneOf(['yes', 'no'], 'no'),
  },
  MILLRUN_LOG_LEVEL: {
    describe: 'trace, debug, info, warn, error or fatal. Logs are JSON lines on standard error.',
    shown: 'info; warn on a terminal',
    parse: oneOf(
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
      process.stderr.isTTY ? 'warn' : 'info',
    ),
  },
  MILLRUN_SANDBOX: {
    describe: 'require: refuse to start without a sandbox; auto: use the best there is; off: none.',
    shown: 'auto on loopback, require otherwise',
    parse: (text) => (text === undefined ? undefined : oneOf(['require', 'auto', 'off'], 'auto')(text)),
  },
  MILLRUN_ISOLATION: {
    describe: 'account: a warm tool host serves one account; run: a fresh one for each run.',
    shown: 'account',
    parse: oneOf(['account', 'run'], 'account'),
  },
  MILLRUN_SLOTS: {
    describe: 'Runs a worker executes at once.',
    shown: 'one and a half times the processors',
    parse: whole(1, 256, Math.ceil(availableParallelism() * 1.5)),
  },
  MILLRUN_RUN_MEMORY_MB: {
    describe: 'Memory one process of a run may allocate, in MiB; at least 1024.',
    shown: '2048',
    // Node alone needs some 600 MiB of it to start.
    parse: whole(1024, 1_048_576, 2048),
  },
  MILLRUN_RUN_FILE_MB: {
    describe: 'Largest file an engine may write, in MiB.',
    shown: '8192',
    parse: whole(16, 16_777_216, 8192),
  },
  MILLRUN_CANCEL_WINDOW_S: {
    describe: `Safety window after the cancel of a processing run, in seconds; at least ${fenceSeconds}, in which a lost worker is fenced off and killed.`,
    shown: '30',
    parse: (text) => {
      const seconds = whole(0, 600, 30)(text);
      if (seconds < fenceSeconds) {
        throw new Problem(
          `must be at least ${fenceSeconds}: a lost worker needs that long to be fenced off and killed`,
        );
      }
      return seconds;
    },
  },
  MILLRUN_RETENTION_HOURS: {
    describe: 'Inputs and outputs are deleted this long after a run is submitted; 0 keeps them.',
    shown: '24',
    parse: whole(0, 87_600, 24),
  },
  MILLRUN_DRAIN_S: {
    describe: 'How long a stop waits for running work before the rest is put back into the queue, in seconds.',
    shown: '25',
    parse: whole(0, 3600, 25),
  },
  MILLRUN_RESERVE_MB: {
    describe: 'Uploads are refused when the disk would have less than this free, in MiB.',
    shown: '512',
    parse: whole(0, 1_048_576, 512),
  },
  MILLRUN_WEBHOOK_ALLOW: {
    describe: 'CIDRs and host names, comma-separated, that webhooks may reach although they are not public.',
    shown: 'none',
    parse: asList,
  },
  MILLRUN_FETCH: {
    describe: 'public: tools that take a `url` fetch pages of the public internet; off: they fetch nothing.',
    shown: 'public',
    parse: oneOf(['public', 'off'], 'public'),
  },
  MILLRUN_FETCH_ALLOW: {
    describe:
      'CIDRs and host names, comma-separated, that tools may fetch from although they are not public; on them every port, otherwise 80 and 443.',
    shown: 'none',
    parse: asList,
  },
  MILLRUN_METRICS_TOKEN: {
    describe: 'Bearer token for `/metrics`; without it only loopback may read them.',
    shown: 'none',
    parse: asText,
  },
  MILLRUN_PLANS: {
    describe: 'JSON object that adds plans or changes numbers of the built-in ones; 0 means no limit.',
    shown: 'free, pro, team, unlimited',
    parse: asPlans,
  },
  MILLRUN_SIGN_UP: {
    describe: 'open: anybody may make an account on the account page; invitation: only who was given a link.',
    shown: 'invitation',
    parse: oneOf(['open', 'invitation'], 'invitation'),
  },
  MILLRUN_DEFAULT_PLAN: {
    describe: 'Plan of an account that is made by sign-up.',
    shown: 'pro',
    parse: (text) => text ?? 'pro',
  },
  MILLRUN_OIDC_ISSUER: {
    describe:
      'Issuer of an OpenID Connect provider people may sign in with, such as `https://login.example.com/realms/main`. Its redirect address is `{MILLRUN_PUBLIC_URL}/account/auth/callback/oidc`.',
    shown: 'none',
    parse: asUrl(['http:', 'https:']),
  },
  MILLRUN_OIDC_CLIENT_ID: { describe: 'Client id at that provider.', shown: 'none', parse: asText },
  MILLRUN_OIDC_CLIENT_SECRET: { describe: 'Client secret at that provider.', shown: 'none', parse: asText },
  MILLRUN_OIDC_NAME: {
    describe: 'What people are shown: `Continue with …`.',
    shown: 'single sign-on',
    parse: (text) => text ?? 'single sign-on',
  },
} satisfies Record<string, Variable<unknown>>;

type Parsed = { [K in keyof typeof variables]: ReturnType<(typeof variables)[K]['parse']> };

/**
 * Reads the environment; the only place that does.
 *
 * @throws Error that names every bad variable at once.
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries<Variable<unknown>>(variables)) {
    const text = environment[name];
    try {
      values[name] = variable.parse(text === '' ? undefined : text);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      problems.push(`${name} ${error.message}`);
    }
  }
  if (problems.length === 0) problems.push(...problemsBetween(values as Parsed));
  if (problems.length > 0) throw new Error(`The configuration cannot be used:\n  ${problems.join('\n  ')}`);
  return { ...toConfig(values as Parsed), startedByNpm: environment['npm_lifecycle_event'] !== undefined };
}

/** What is wrong with variables that belong together. */
function problemsBetween(parsed: Parsed): string[] {
  const problems: string[] = [];
  const plans = Object.keys(parsed.MILLRUN_PLANS);
  if (!plans.includes(parsed.MILLRUN_DEFAULT_PLAN))
    problems.push(`MILLRUN_DEFAULT_PLAN must be one of ${plans.join(', ')}, not "${parsed.MILLRUN_DEFAULT_PLAN}"`);
  const { MILLRUN_OIDC_ISSUER, MILLRUN_OIDC_CLIENT_ID, MILLRUN_OIDC_CLIENT_SECRET, MILLRUN_PUBLIC_URL } = parsed;
  const oidc = { MILLRUN_OIDC_ISSUER, MILLRUN_OIDC_CLIENT_ID, MILLRUN_OIDC_CLIENT_SECRET };
  if (Object.values(oidc).every((value) => value === undefined)) return problems;
  const needed = Object.entries({ ...oidc, MILLRUN_PUBLIC_URL });
  for (const [name, value] of needed)
    if (value === undefined) problems.push(`${name} must be set to sign in with an OpenID Connect provider`);
  return problems;
}

function oidcFrom(parsed: Parsed): OidcProvider | undefined {
  const { MILLRUN_OIDC_ISSUER: issuer, MILLRUN_OIDC_CLIENT_ID: clientId } = parsed;
  const { MILLRUN_OIDC_CLIENT_SECRET: clientSecret, MILLRUN_OIDC_NAME: name } = parsed;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) return undefined;
  return { issuer, clientId, clientSecret, name };
}

function toConfig(parsed: Parsed): Omit<Config, 'startedByNpm'> {
  return {
    host: parsed.HOST,
    port: parsed.PORT,
    publicUrl: parsed.MILLRUN_PUBLIC_URL,
    trustProxy: parsed.MILLRUN_TRUST_PROXY === 'yes',
    databaseUrl: parsed.DATABASE_URL,
    dataDirectory: parsed.MILLRUN_DATA_DIR,
    logLevel: parsed.MILLRUN_LOG_LEVEL,
    sandbox: parsed.MILLRUN_SANDBOX ?? (isLoopback(parsed.HOST) ? 'auto' : 'require'),
    isolation: parsed.MILLRUN_ISOLATION,
    slots: parsed.MILLRUN_SLOTS,
    runMemoryBytes: parsed.MILLRUN_RUN_MEMORY_MB * mebibyte,
    runFileBytes: parsed.MILLRUN_RUN_FILE_MB * mebibyte,
    cancelWindowSeconds: parsed.MILLRUN_CANCEL_WINDOW_S,
    retentionHours: parsed.MILLRUN_RETENTION_HOURS,
    drainSeconds: parsed.MILLRUN_DRAIN_S,
    reserveBytes: parsed.MILLRUN_RESERVE_MB * mebibyte,
    webhookAllow: parsed.MILLRUN_WEBHOOK_ALLOW,
    fetch: parsed.MILLRUN_FETCH,
    fetchAllow: parsed.MILLRUN_FETCH_ALLOW,
    metricsToken: parsed.MILLRUN_METRICS_TOKEN,
    plans: parsed.MILLRUN_PLANS,
    openSignUp: parsed.MILLRUN_SIGN_UP === 'open',
    defaultPlan: parsed.MILLRUN_DEFAULT_PLAN,
    oidc: oidcFrom(parsed),
  };
}

/** Where the service is reached, for what is told without a request; `address` is where it listens, once it does. */
export function originOf(config: Config, address?: string): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  if (address !== undefined && isLoopback(config.host)) return address;
  const everywhere = config.host === '0.0.0.0' || config.host === '::';
  return `http://${everywhere ? hostname() : config.host}:${config.port}`;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
