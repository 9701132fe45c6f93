import { hashPassword, verifyPassword } from '@better-auth/utils/password';
import type { BetterAuthOptions } from 'better-auth';
import type { Db } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { newUuid, type Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { databaseUnavailable } from '../lib/outage.ts';

/** The operator's OpenID Connect provider. */
export interface OidcProvider {
  /** As people are shown it: `Continue with <name>`. */
  name: string;
  /** `{issuer}/.well-known/openid-configuration` describes it. */
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** A request of a browser, as far as signing in is concerned. */
export interface BrowserRequest {
  /** The `Cookie` header. */
  cookie: string | undefined;
  userAgent: string | undefined;
  /** Network address of the client. */
  address: string;
  /** It came over TLS, so cookies are marked `Secure`. */
  secure: boolean;
}

/** The session a browser's cookie stands for. */
export interface Session {
  id: Uuid;
  personId: Uuid;
  /** The account chosen in it. */
  accountId: Uuid | null;
  email: string;
  emailVerified: boolean;
  admin: boolean;
  /** `Set-Cookie` values: the session was extended. */
  cookies: string[];
}

/** Passwords, sessions and the operator's provider; everything here is better-auth's (docs/decisions/0020). */
export interface SignIn {
  oidc: OidcProvider | undefined;
  hashPassword(password: string): Promise<string>;
  /** Whether it is the person's password; takes the same time when there is none. */
  isPassword(hash: string | undefined, password: string): Promise<boolean>;
  /**
   * Begins a new session.
   *
   * @returns the `Set-Cookie` values.
   * @throws AppError 401 `credentials_invalid`, whatever is wrong with them.
   */
  withPassword(request: BrowserRequest, email: string, password: string): Promise<string[]>;
  session(request: BrowserRequest): Promise<Session | undefined>;
  /** Ends the session of the request; the `Set-Cookie` values take the cookie away. */
  signOut(request: BrowserRequest): Promise<string[]>;
  /** Where to send a browser that wants to sign in with the provider. */
  startOidc(request: BrowserRequest): Promise<{ location: string; cookies: string[] }>;
  /** The provider has sent the browser back, to this path with its query. */
  finishOidc(request: BrowserRequest, pathAndQuery: string): Promise<{ location: string; cookies: string[] }>;
}

interface Parts {
  db: Db;
  /** Signs the cookies. */
  secret: string;
  /** `https://files.example.com`; a provider needs it. */
  publicUrl: string | undefined;
  oidc: OidcProvider | undefined;
  /** People the provider knows and we do not may come in. */
  openSignUp: boolean;
  clock: Clock;
  log: Log;
}

/** Where the provider sends browsers back to: `{origin}/account/auth/callback/oidc`. */
export const authPrefix = '/account/auth';
const providerId = 'oidc';
const sessionSeconds = 30 * 86_400;
/** A session in use is extended at most this often, in seconds. */
const extendEverySeconds = 86_400;
export const shortestPassword = 10;
export const longestPassword = 128;
/** Ours, put there by us: what a client sends under this name is not taken over. */
const addressHeader = 'x-millrun-address';

/** better-auth takes most of a second to load: in the background, so that the service is there before. */
async function loadLibrary() {
  const [core, oauth] = await Promise.all([import('better-auth'), import('better-auth/plugins/generic-oauth')]);
  return { betterAuth: core.betterAuth, APIError: core.APIError, genericOAuth: oauth.genericOAuth };
}

type Library = Awaited<ReturnType<typeof loadLibrary>>;

function createAuth({ betterAuth, genericOAuth }: Library, parts: Parts, secure: boolean) {
  const { clock, log, oidc } = parts;
  const options = {
    appName: 'Millrun',
    baseURL: parts.publicUrl ?? (secure ? 'https://millrun.invalid' : 'http://millrun.invalid'),
    basePath: authPrefix,
    secret: parts.secret,
    telemetry: { enabled: false },
    database: { db: parts.db, type: 'postgres' as const },
    emailAndPassword: { enabled: true, minPasswordLength: shortestPassword, maxPasswordLength: longestPassword },
    user: {
      modelName: 'people',
      fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
      additionalFields: { admin: { type: 'boolean', required: false, defaultValue: false, input: false } },
    },
    session: {
      modelName: 'sessions',
      fields: {
        userId: 'person_id',
        ipAddress: 'address',
        userAgent: 'user_agent',
        expiresAt: 'expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
      additionalFields: { accountId: { type: 'string', required: false, input: false, fieldName: 'account_id' } },
      expiresIn: sessionSeconds,
      updateAge: extendEverySeconds,
    },
    account: {
      modelName: 'sign_in_methods',
      fields: {
        userId: 'person_id',
        providerId: 'provider_id',
        accountId: 'subject',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        createdAt: 'created_at',
        updatedAt: 'updated_at',
      },
    },
    verification: {
      modelName: 'verifications',
      fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
    },
    // The edge counts attempts itself; see attempts.ts.
    rateLimit: { enabled: false },
    advanced: {
      cookiePrefix: 'millrun',
      useSecureCookies: secure,
      defaultCookieAttributes: { httpOnly: true, sameSite: 'lax', path: '/' },
      ipAddress: { ipAddressHeaders: [addressHeader] },
      database: { generateId: () => newUuid(clock) },
    },
    onAPIError: { errorURL: '/sign-in' },
    // Only who somebody is matters to us: what would speak for them at the provider is not kept.
    databaseHooks: {
      account: {
        create: { before: async (method) => ({ data: { ...method, ...noProviderTokens } }) },
        update: { before: async (method) => ({ data: { ...method, ...noProviderTokens } }) },
      },
    },
    logger: { log: (level, message) => log[level === 'error' ? 'warn' : 'debug']({ part: 'sign-in' }, message) },
    plugins:
      oidc === undefined
        ? []
        : [
            genericOAuth({
              config: [
                {
                  providerId,
                  discoveryUrl: `${oidc.issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`,
                  clientId: oidc.clientId,
                  clientSecret: oidc.clientSecret,
                  scopes: ['openid', 'email', 'profile'],
                  pkce: true,
                  disableSignUp: !parts.openSignUp,
                },
              ],
            }),
          ],
  } satisfies BetterAuthOptions;
  return betterAuth(options);
}

const noProviderTokens = {
  accessToken: null,
  refreshToken: null,
  idToken: null,
  accessTokenExpiresAt: null,
  refreshTokenExpiresAt: null,
};

export function createSignIn(parts: Parts): SignIn {
  const loading = loadLibrary().then((library) => ({
    APIError: library.APIError,
    // A cookie is `Secure` or not by how the request came: a service may be reached both ways.
    secure: createAuth(library, parts, true),
    plain: createAuth(library, parts, false),
  }));
  loading.catch((error: unknown) => parts.log.error({ err: error }, 'sign-in could not be loaded'));
  const authFor = async ({ secure }: BrowserRequest) => {
    const loaded = await loading;
    return secure ? loaded.secure : loaded.plain;
  };
  /** What kind of refusal an error of the library is; undefined for others. */
  const refusalStatus = async (error: unknown): Promise<number | undefined> => {
    const { APIError } = await loading;
    return error instanceof APIError ? error.statusCode : undefined;
  };
  /** better-auth says of a database that is away only that it failed. */
  const orUnavailable = async (error: unknown): Promise<unknown> =>
    ((await refusalStatus(error)) ?? 0) >= 500 ? databaseUnavailable(error) : error;
  const unusedHash = hashPassword('a password nobody has');

  return {
    oidc: parts.oidc,
    hashPassword,
    async isPassword(hash, password) {
      const right = await verifyPassword(hash ?? (await unusedHash), password);
      return right && hash !== undefined;
    },
    async withPassword(request, email, password) {
      try {
        const headers = headersOf(request);
        const { api } = await authFor(request);
        const reply = await api.signInEmail({
          body: { email, password },
          headers,
          returnHeaders: true,
        });
        return reply.headers.getSetCookie();
      } catch (error) {
        if (((await refusalStatus(error)) ?? 500) < 500) throw credentialsInvalid();
        throw await orUnavailable(error);
      }
    },
    async session(request) {
      if (request.cookie === undefined) return undefined;
      const headers = headersOf(request);
      const { api } = await authFor(request);
      const reading = api.getSession({ headers, returnHeaders: true });
      const { response, headers: reply } = await reading.catch(async (error: unknown) => {
        throw await orUnavailable(error);
      });
      if (response === null) return undefined;
      const { session, user } = response;
      return {
        id: session.id,
        personId: user.id,
        accountId: session.accountId ?? null,
        email: user.email,
        emailVerified: user.emailVerified,
        admin: user.admin === true,
        cookies: reply.getSetCookie(),
      };
    },
    async signOut(request) {
      const { api } = await authFor(request);
      const reply = await api.signOut({ headers: headersOf(request), returnHeaders: true });
      return reply.headers.getSetCookie();
    },
    async startOidc(request) {
      const body = { provider: providerId, callbackURL: '/', errorCallbackURL: '/sign-in', disableRedirect: true };
      const { api } = await authFor(request);
      const reply = await api.signInSocial({ body, headers: headersOf(request), returnHeaders: true });
      if (!('url' in reply.response) || reply.response.url === undefined)
        throw new Error('the provider has no address');
      return { location: reply.response.url, cookies: reply.headers.getSetCookie() };
    },
    async finishOidc(request, pathAndQuery) {
      const address = new URL(pathAndQuery, parts.publicUrl);
      const auth = await authFor(request);
      const reply = await auth.handler(new Request(address, { headers: headersOf(request) }));
      return {
        location: reply.headers.get('location') ?? '/sign-in?error=failed',
        cookies: reply.headers.getSetCookie(),
      };
    },
  };
}

function headersOf({ cookie, userAgent, address }: BrowserRequest): Headers {
  const headers = new Headers({ [addressHeader]: address });
  if (cookie !== undefined) headers.set('cookie', cookie);
  if (userAgent !== undefined) headers.set('user-agent', userAgent);
  return headers;
}

export function credentialsInvalid(): AppError {
  return new AppError(401, 'credentials_invalid', 'The e-mail address or the password is not right.');
}
