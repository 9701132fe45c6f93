import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { LinkInfo, MemberRole, SignedInDevice } from '@millrun/web/wire';
import type { Db, Tx } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError, notFound, validationFailed } from '../lib/errors.ts';
import { newUuid, parseId, publicId, type Uuid } from '../lib/ids.ts';
import { isEmail, type Account, type Accounts } from './accounts.ts';
import type { Actor, Audit } from './audit.ts';
import { findLink, linkInvalid, makeLink, takeLink, type Link, type NewLink } from './links.ts';
import { checkRoom } from './membership.ts';
import type { Plans } from './plans.ts';
import { longestPassword, shortestPassword, type BrowserRequest, type Session, type SignIn } from './sign-in.ts';

/** A signed-in person, in one of their accounts. */
export interface Visitor {
  sessionId: Uuid;
  personId: Uuid;
  email: string;
  admin: boolean;
  account: MemberAccount;
  /** Every account of the person, the oldest membership first. */
  accounts: MemberAccount[];
  /** `Set-Cookie` values for the reply. */
  cookies: string[];
}

export interface MemberAccount {
  id: Uuid;
  name: string;
  plan: string;
  role: MemberRole;
}

export interface People {
  /** Who asks; undefined when nobody is signed in. @throws AppError 403 `no_account` for a person without any. */
  visitor(request: BrowserRequest): Promise<Visitor | undefined>;
  /** Begins a new session; ends the one the browser had. @throws AppError 401, 403 `no_account`. */
  signIn(request: BrowserRequest, email: string, password: string): Promise<Visitor>;
  /** Makes a person with an account, unless the address is taken: nobody can tell which from the answer or its time. */
  signUp(email: string, password: string, actor: Actor): Promise<void>;
  chooseAccount(visitor: Visitor, accountId: string): Promise<void>;
  hasPassword(personId: Uuid): Promise<boolean>;
  /** Ends every other session of the person. @throws AppError 422 for a wrong or unfit password. */
  changePassword(visitor: Visitor, current: string, next: string, actor: Actor): Promise<void>;
  devices(visitor: Visitor): Promise<SignedInDevice[]>;
  endDevice(visitor: Visitor, id: string): Promise<void>;
  /** Signs the person out everywhere. */
  endAll(visitor: Visitor, actor: Actor): Promise<void>;
  /** The link that makes the first person; undefined when there is somebody. */
  firstLink(): Promise<NewLink | undefined>;
  describeLink(secret: string): Promise<LinkInfo>;
  /** Uses the link up; the person can then sign in with these. @throws AppError 404, 409, 422. */
  acceptLink(answer: { secret: string; email: string; password: string }, actor: Actor): Promise<{ email: string }>;
}

interface Parts {
  db: Db;
  clock: Clock;
  signIn: SignIn;
  accounts: Accounts;
  audit: Audit;
  plans: Plans;
  openSignUp: boolean;
  defaultPlan: string;
  /** The plan of the person who starts the service. */
  firstPlan: string;
}

/** No sign-up is answered sooner, in milliseconds: what it did must not show in its time. */
const signUpMs = 600;

export function createPeople(parts: Parts): People {
  const { db, clock, signIn, accounts, audit } = parts;

  async function accountsOf(personId: Uuid): Promise<MemberAccount[]> {
    return db
      .selectFrom('members as m')
      .innerJoin('accounts as a', 'a.id', 'm.account_id')
      .select(['a.id', 'a.name', 'a.plan', 'm.role'])
      .where('m.person_id', '=', personId)
      .orderBy('m.joined_at')
      .orderBy('a.id')
      .execute();
  }

  /** Somebody the provider has let in, or who has left their last account. */
  async function provideAccount(session: Session): Promise<MemberAccount[]> {
    if (!parts.openSignUp) throw noAccount();
    const actor = { name: session.email, address: '' };
    await db.transaction().execute(async (tx) => {
      const account = { email: session.email, plan: parts.defaultPlan };
      const made = (await accounts.create(tx, account, actor)) ?? (await adopt(tx, session));
      if (made === undefined) throw noAccount();
      await join(tx, made.id, session.personId, 'owner');
    });
    return accountsOf(session.personId);
  }

  /** An account that was made for an address, and has nobody yet, is its owner's: if the address is proved to be theirs. */
  async function adopt(tx: Tx, session: Session): Promise<Account | undefined> {
    return session.emailVerified ? accountWithoutMembers(tx, session.email) : undefined;
  }

  async function insertPerson(
    tx: Tx,
    person: { email: string; hash: string; verified: boolean; admin: boolean },
  ): Promise<Uuid | undefined> {
    const id = newUuid(clock);
    const made = await tx
      .insertInto('people')
      .values({ id, email: person.email, email_verified: person.verified, admin: person.admin })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (made === undefined) return undefined;
    await setPassword(tx, id, person.hash);
    return id;
  }

  async function setPassword(tx: Tx, personId: Uuid, hash: string): Promise<void> {
    const now = clock.now();
    await tx
      .insertInto('sign_in_methods')
      .values({ id: newUuid(clock), person_id: personId, provider_id: 'credential', subject: personId, password: hash })
      .onConflict((conflict) =>
        conflict.columns(['provider_id', 'subject']).doUpdateSet({ password: hash, updated_at: now }),
      )
      .execute();
  }

  async function passwordHash(personId: Uuid): Promise<string | undefined> {
    const row = await db
      .selectFrom('sign_in_methods')
      .select('password')
      .where('person_id', '=', personId)
      .where('provider_id', '=', 'credential')
      .executeTakeFirst();
    return row?.password ?? undefined;
  }

  async function findPerson(email: string): Promise<{ id: Uuid } | undefined> {
    return db.selectFrom('people').select('id').where('email', '=', email.toLowerCase()).executeTakeFirst();
  }

  async function startPerson(email: string, password: string, actor: Actor): Promise<void> {
    const hash = await signIn.hashPassword(password);
    await db.transaction().execute(async (tx) => {
      const account = await accounts.create(tx, { email, plan: parts.defaultPlan }, actor);
      if (account === undefined) return;
      const personId = await insertPerson(tx, { email, hash, verified: false, admin: false });
      // A member of another account has this address: the new account goes with the transaction.
      if (personId === undefined) throw new Taken();
      await join(tx, account.id, personId, 'owner');
    });
  }

  /** Who a link is for, in the transaction that uses it up. */
  async function personOfLink(
    tx: Tx,
    link: Link,
    { known, email, hash }: { known: Uuid | undefined; email: string; hash: string },
  ): Promise<{ id: Uuid; email: string }> {
    if (link.purpose === 'recovery') return recover(tx, link, hash);
    if (known !== undefined) {
      if (link.admin) await tx.updateTable('people').set({ admin: true }).where('id', '=', known).execute();
      return { id: known, email };
    }
    // Only an address somebody else has named is known to be the person's.
    const verified = link.email !== null || link.purpose === 'first_person';
    const id = await insertPerson(tx, { email, hash, verified, admin: link.admin });
    if (id === undefined) throw emailTaken();
    return { id, email };
  }

  /** Whoever holds an invitation must not take over a person with it. */
  async function judgeKnown(personId: Uuid, password: string): Promise<string | undefined> {
    const right = await signIn.isPassword(await passwordHash(personId), password);
    return right ? undefined : 'is not the password of this address, which has an account here already';
  }

  async function recover(tx: Tx, link: Link, hash: string): Promise<{ id: Uuid; email: string }> {
    const id = link.personId ?? '';
    const person = await tx.selectFrom('people').select('email').where('id', '=', id).executeTakeFirstOrThrow();
    await setPassword(tx, id, hash);
    await tx.deleteFrom('sessions').where('person_id', '=', id).execute();
    return { id, email: person.email };
  }

  /** The account a link leads into, made when the link says so. */
  async function accountOfLink(tx: Tx, link: Link, email: string, actor: Actor): Promise<Uuid | undefined> {
    if (link.purpose === 'recovery') return undefined;
    if (link.accountId !== null) return link.accountId;
    const plan = link.plan ?? (link.purpose === 'first_person' ? parts.firstPlan : parts.defaultPlan);
    // Only an address somebody else has named, or the operator's own, may take over what was made for it.
    const trusted = link.email !== null || link.purpose === 'first_person';
    const made =
      (await accounts.create(tx, { email, plan }, actor)) ??
      (trusted ? await accountWithoutMembers(tx, email) : undefined);
    if (made === undefined) throw emailTaken();
    return made.id;
  }

  async function visitor(request: BrowserRequest): Promise<Visitor | undefined> {
    const session = await signIn.session(request);
    if (session === undefined) return undefined;
    let all = await accountsOf(session.personId);
    if (all.length === 0) all = await provideAccount(session);
    const account = all.find(({ id }) => id === session.accountId) ?? all[0];
    if (account === undefined) throw noAccount();
    const { personId, email, admin, cookies } = session;
    return { sessionId: session.id, personId, email, admin, account, accounts: all, cookies };
  }

  return {
    visitor,
    async signIn(request, email, password) {
      const former = await signIn.session(request);
      const cookies = await signIn.withPassword(request, email, password);
      // A new session each time, and the one before does not stay behind.
      if (former !== undefined) await db.deleteFrom('sessions').where('id', '=', former.id).execute();
      const signedIn = await visitor({ ...request, cookie: cookieHeader(cookies) });
      if (signedIn === undefined) throw new Error('the new session is not there');
      const actor = { name: signedIn.email, address: request.address };
      const entry = { action: 'person.signed_in', subject: signedIn.email } as const;
      await audit.record(db, { accountId: signedIn.account.id, actor, ...entry });
      return { ...signedIn, cookies };
    },
    async signUp(email, password, actor) {
      judgeCredentials(email, password);
      const pause = sleep(signUpMs);
      await startPerson(email.toLowerCase(), password, actor).catch((error: unknown) => {
        if (!(error instanceof Taken)) throw error;
      });
      await pause;
    },
    async chooseAccount(visitor, accountId) {
      const id = parseId('account', accountId);
      if (!visitor.accounts.some((account) => account.id === id)) throw notFound('There is no account with this id.');
      await db
        .updateTable('sessions')
        .set({ account_id: id ?? null })
        .where('id', '=', visitor.sessionId)
        .execute();
    },
    hasPassword: async (personId) => (await passwordHash(personId)) !== undefined,
    async changePassword(visitor, current, next, actor) {
      if (!(await signIn.isPassword(await passwordHash(visitor.personId), current)))
        throw validationFailed({ current_password: ['is not your password'] });
      const problem = judgePassword(next, visitor.email);
      if (problem !== undefined) throw validationFailed({ new_password: [problem] });
      const hash = await signIn.hashPassword(next);
      await db.transaction().execute(async (tx) => {
        await setPassword(tx, visitor.personId, hash);
        await tx
          .deleteFrom('sessions')
          .where('person_id', '=', visitor.personId)
          .where('id', '!=', visitor.sessionId)
          .execute();
        const entry = { action: 'person.password_changed', subject: visitor.email } as const;
        await audit.record(tx, { accountId: visitor.account.id, actor, ...entry });
      });
    },
    async devices(visitor) {
      const rows = await db
        .selectFrom('sessions')
        .select(['id', 'user_agent', 'address', 'created_at', 'updated_at'])
        .where('person_id', '=', visitor.personId)
        .where('expires_at', '>', clock.now())
        .orderBy('updated_at', 'desc')
        .execute();
      return rows.map((row) => ({
        id: publicId('session', row.id),
        current: row.id === visitor.sessionId,
        user_agent: row.user_agent ?? '',
        address: row.address ?? '',
        created_at: row.created_at.toISOString(),
        last_seen_at: row.updated_at.toISOString(),
      }));
    },
    async endDevice(visitor, id) {
      const uuid = parseId('session', id);
      const ended = await db
        .deleteFrom('sessions')
        .where('id', '=', uuid ?? null)
        .where('person_id', '=', visitor.personId)
        .returning('id')
        .executeTakeFirst();
      if (ended === undefined) throw notFound('There is no device with this id.');
    },
    async endAll(visitor, actor) {
      await db.transaction().execute(async (tx) => {
        await tx.deleteFrom('sessions').where('person_id', '=', visitor.personId).execute();
        const entry = { action: 'person.signed_out_everywhere', subject: visitor.email } as const;
        await audit.record(tx, { accountId: visitor.account.id, actor, ...entry });
      });
    },
    async firstLink() {
      if ((await db.selectFrom('people').select('id').limit(1).executeTakeFirst()) !== undefined) return undefined;
      return makeLink(db, clock, { purpose: 'first_person', role: 'owner', admin: true });
    },
    async describeLink(secret) {
      const link = await findLink(db, clock, secret);
      const [account, person, existing] = await Promise.all([
        link.accountId === null ? undefined : nameOf(db, link.accountId),
        link.personId === null ? undefined : emailOf(db, link.personId),
        link.email === null ? undefined : findPerson(link.email),
      ]);
      const email = person ?? link.email ?? undefined;
      return {
        purpose: link.purpose,
        ...(email === undefined ? {} : { email }),
        ...(account === undefined ? {} : { account_name: account }),
        ...(existing === undefined ? {} : { existing: true }),
        expires_at: link.expiresAt.toISOString(),
      };
    },
    async acceptLink(answer, actor) {
      const link = await findLink(db, clock, answer.secret);
      const asked = link.email ?? (link.purpose === 'recovery' ? undefined : answer.email.trim().toLowerCase());
      if (asked !== undefined && !isEmail(asked)) throw validationFailed({ email: ['is not an e-mail address'] });
      const known = asked === undefined ? undefined : (await findPerson(asked))?.id;
      const problem =
        known === undefined ? judgePassword(answer.password, asked ?? '') : await judgeKnown(known, answer.password);
      if (problem !== undefined) throw validationFailed({ password: [problem] });
      const hash = await signIn.hashPassword(answer.password);
      return db.transaction().execute(async (tx) => {
        if (link.purpose === 'first_person') await beFirst(tx);
        const taken = await takeLink(tx, clock, answer.secret);
        const person = await personOfLink(tx, taken, { known, email: asked ?? '', hash });
        const signedIn = { name: person.email, address: actor.address };
        const accountId = await accountOfLink(tx, taken, person.email, signedIn);
        if (accountId !== undefined) {
          await join(tx, accountId, person.id, taken.role ?? 'owner');
          await checkRoom(tx, parts.plans, accountId);
        }
        const action = taken.purpose === 'recovery' ? 'person.recovered' : 'member.joined';
        const where = accountId === undefined ? await accountIdsOf(tx, person.id) : [accountId];
        for (const id of where)
          await audit.record(tx, { accountId: id, actor: signedIn, action, subject: person.email });
        return { email: person.email };
      });
    },
  };
}

/** An address somebody has; never told to a caller. */
class Taken extends Error {}

async function join(tx: Tx, accountId: Uuid, personId: Uuid, role: MemberRole): Promise<void> {
  await tx
    .insertInto('members')
    .values({ account_id: accountId, person_id: personId, role })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

async function accountIdsOf(tx: Tx, personId: Uuid): Promise<Uuid[]> {
  const rows = await tx.selectFrom('members').select('account_id').where('person_id', '=', personId).execute();
  return rows.map((row) => row.account_id);
}

/** An account made on the command line, say: for this address, and nobody is in it. */
async function accountWithoutMembers(tx: Tx, email: string): Promise<Account | undefined> {
  return tx
    .selectFrom('accounts as a')
    .select(['a.id', 'a.email', 'a.plan'])
    .where((where) => where(where.fn<string>('lower', ['a.email']), '=', email.toLowerCase()))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('members as m').select('m.person_id').whereRef('m.account_id', '=', 'a.id'))),
    )
    .forUpdate()
    .executeTakeFirst();
}

/** Any fixed number: whoever becomes the first person holds this advisory lock. */
const firstPersonLock = 0x6d72_0004;

/** Two holders of first links cannot both be first. @throws AppError 404 `link_invalid` when there is somebody already. */
async function beFirst(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(${firstPersonLock})`.execute(tx);
  if ((await tx.selectFrom('people').select('id').limit(1).executeTakeFirst()) !== undefined) throw linkInvalid();
}

async function nameOf(db: Db, accountId: Uuid): Promise<string | undefined> {
  return (await db.selectFrom('accounts').select('name').where('id', '=', accountId).executeTakeFirst())?.name;
}

async function emailOf(db: Db, personId: Uuid): Promise<string | undefined> {
  return (await db.selectFrom('people').select('email').where('id', '=', personId).executeTakeFirst())?.email;
}

/** What a browser would send back for these `Set-Cookie` values. */
function cookieHeader(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(';', 1)[0] ?? '').join('; ');
}

function judgeCredentials(email: string, password: string): void {
  const problem = judgePassword(password, email);
  const errors = {
    ...(isEmail(email) ? {} : { email: ['is not an e-mail address'] }),
    ...(problem === undefined ? {} : { password: [problem] }),
  };
  if (Object.keys(errors).length > 0) throw validationFailed(errors);
}

function judgePassword(password: string, email: string): string | undefined {
  if (password.length < shortestPassword) return `must have at least ${shortestPassword} characters`;
  if (password.length > longestPassword) return `must have at most ${longestPassword} characters`;
  if (email !== '' && password.toLowerCase() === email.toLowerCase()) return 'must not be the e-mail address';
  if (new Set(password).size < 4) return 'must have more than three different characters';
  return undefined;
}

function noAccount(): AppError {
  return new AppError(
    403,
    'no_account',
    'You are not a member of any account here. Ask the operator for an invitation.',
  );
}

function emailTaken(): AppError {
  return new AppError(409, 'email_taken', 'This address has an account here already. Sign in, or use another address.');
}
