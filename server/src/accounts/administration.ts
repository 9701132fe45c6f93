import { sql } from 'kysely';
import type { AdminAccount, AdminAccounts, Member } from '@millrun/web/wire';
import type { Db } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError, badRequest, notFound, validationFailed } from '../lib/errors.ts';
import { parseId, publicId, type Uuid } from '../lib/ids.ts';
import { isEmail, type Accounts } from './accounts.ts';
import type { Actor } from './audit.ts';
import { makeLink, type NewLink } from './links.ts';
import type { Plans } from './plans.ts';

/** What an administrator may see and do: any account's plan and people, never its files. */
export interface Administration {
  accounts(query: { q?: string | undefined; limit: number; cursor?: string | undefined }): Promise<AdminAccounts>;
  setPlan(id: string, plan: string, actor: Actor): Promise<AdminAccount>;
  people(id: string): Promise<(Member & { admin: boolean })[]>;
  /** A link that makes an account of its own. */
  invite(invitation: { email: string | null; plan: string }): Promise<NewLink>;
  /** A link with which a person chooses a new password. */
  recover(personId: string): Promise<NewLink>;
  /** For the command line: lets the person with this address in, known or not. */
  letIn(email: string, options: { plan: string; admin: boolean }, actor: Actor): Promise<NewLink>;
  /** @throws AppError 404, 409 `last_admin`. */
  setAdmin(personId: string, admin: boolean): Promise<void>;
}

const month = 30 * 86_400_000;

export function createAdministration(parts: {
  db: Db;
  clock: Clock;
  accounts: Accounts;
  plans: Plans;
}): Administration {
  const { db, clock, accounts, plans } = parts;

  const selectAccounts = () => {
    const now = clock.now();
    const today = now.toISOString().slice(0, 10);
    const since = new Date(now.getTime() - month).toISOString().slice(0, 10);
    return db.selectFrom('accounts as a').select((select) => [
      'a.id',
      'a.name',
      'a.email',
      'a.plan',
      'a.created_at',
      select
        .selectFrom('members as m')
        .select((inner) => inner.fn.countAll<string>().as('count'))
        .whereRef('m.account_id', '=', 'a.id')
        .as('members'),
      select
        .selectFrom('usage_days as u')
        .select('u.runs')
        .whereRef('u.account_id', '=', 'a.id')
        .where('u.day', '=', today)
        .as('runs_today'),
      select
        .selectFrom('usage_days as u')
        .select((inner) => inner.fn.sum<string>('u.runs').as('sum'))
        .whereRef('u.account_id', '=', 'a.id')
        .where('u.day', '>=', since)
        .as('runs_month'),
    ]);
  };
  type Row = Awaited<ReturnType<ReturnType<typeof selectAccounts>['executeTakeFirstOrThrow']>>;
  const view = (row: Row): AdminAccount => ({
    id: publicId('account', row.id),
    name: row.name,
    email: row.email,
    plan: row.plan,
    created_at: row.created_at.toISOString(),
    members: Number(row.members ?? 0),
    runs_today: Number(row.runs_today ?? 0),
    runs_30_days: Number(row.runs_month ?? 0),
  });
  const accountUuid = (id: string): Uuid => {
    const uuid = parseId('account', id);
    if (uuid === undefined) throw noSuchAccount();
    return uuid;
  };
  const checkPlan = (plan: string) => {
    if (!Object.hasOwn(plans, plan))
      throw validationFailed({ plan: [`is not one of ${Object.keys(plans).join(', ')}`] });
  };

  return {
    async accounts({ q, limit, cursor }) {
      const before = cursor === undefined ? undefined : parseId('account', cursor);
      if (cursor !== undefined && before === undefined)
        throw badRequest('invalid_cursor', 'The cursor cannot be read; use next_cursor as it is.');
      const words = `%${(q ?? '').toLowerCase().replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
      const rows = await selectAccounts()
        .where((where) =>
          where.or([sql<boolean>`lower(a.email) like ${words}`, sql<boolean>`lower(a.name) like ${words}`]),
        )
        .$if(before !== undefined, (query) => query.where('a.id', '<', before ?? ''))
        .orderBy('a.id', 'desc')
        .limit(limit + 1)
        .execute();
      const data = rows.slice(0, limit).map(view);
      const more = rows.length > limit;
      return { data, next_cursor: more ? (data.at(-1)?.id ?? null) : null, has_more: more };
    },
    async setPlan(id, plan, actor) {
      const uuid = accountUuid(id);
      checkPlan(plan);
      if (!(await accounts.setPlan(uuid, plan, actor))) throw noSuchAccount();
      return view(await selectAccounts().where('a.id', '=', uuid).executeTakeFirstOrThrow());
    },
    async people(id) {
      const uuid = accountUuid(id);
      const rows = await db
        .selectFrom('members as m')
        .innerJoin('people as p', 'p.id', 'm.person_id')
        .select(['p.id', 'p.email', 'p.admin', 'm.role', 'm.joined_at'])
        .where('m.account_id', '=', uuid)
        .orderBy('m.joined_at')
        .execute();
      return rows.map(({ id: personId, joined_at, ...row }) => ({
        id: publicId('person', personId),
        joined_at: joined_at.toISOString(),
        ...row,
      }));
    },
    async invite({ email, plan }) {
      checkPlan(plan);
      if (email !== null && !isEmail(email)) throw validationFailed({ email: ['is not an e-mail address'] });
      return makeLink(db, clock, { purpose: 'invitation', email: email ?? undefined, plan, role: 'owner' });
    },
    async recover(personId) {
      const id = parseId('person', personId) ?? null;
      const person = await db.selectFrom('people').select('id').where('id', '=', id).executeTakeFirst();
      if (person === undefined) throw noSuchPerson();
      return makeLink(db, clock, { purpose: 'recovery', personId: person.id });
    },
    async letIn(email, { plan, admin }, actor) {
      if (!isEmail(email)) throw new Error(`"${email}" is not an e-mail address.`);
      const address = email.toLowerCase();
      const person = await db.selectFrom('people').select('id').where('email', '=', address).executeTakeFirst();
      if (person !== undefined) {
        if (admin) await db.updateTable('people').set({ admin }).where('id', '=', person.id).execute();
        return makeLink(db, clock, { purpose: 'recovery', personId: person.id });
      }
      const account = await accounts.ensure(email, plan, actor);
      const grant = { purpose: 'invitation', email: address, accountId: account.id, role: 'owner', admin } as const;
      return makeLink(db, clock, grant);
    },
    setAdmin: (personId, admin) =>
      db.transaction().execute(async (tx) => {
        const id = parseId('person', personId);
        const admins = await tx.selectFrom('people').select('id').where('admin', '=', true).forUpdate().execute();
        if (!admin && admins.length === 1 && admins[0]?.id === id)
          throw new AppError(409, 'last_admin', 'The service needs an administrator: make somebody else one first.');
        const changed = await tx
          .updateTable('people')
          .set({ admin })
          .where('id', '=', id ?? null)
          .returning('id')
          .executeTakeFirst();
        if (changed === undefined) throw noSuchPerson();
      }),
  };
}

function noSuchAccount(): AppError {
  return notFound('There is no account with this id.');
}

function noSuchPerson(): AppError {
  return notFound('There is no person with this id.');
}
