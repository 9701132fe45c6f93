import { notify, type Db, type Tx } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { newUuid, publicId, type Uuid } from '../lib/ids.ts';
import type { Actor, Audit } from './audit.ts';
import type { Plans } from './plans.ts';
import { accountsChannel } from './tokens.ts';

export interface Account {
  id: Uuid;
  email: string;
  plan: string;
}

export interface Accounts {
  /** The account with this address, made when there is none. */
  ensure(email: string, plan: string, actor: Actor): Promise<Account>;
  /** A new account; undefined when one has this address. */
  create(tx: Tx, account: { email: string; plan: string }, actor: Actor): Promise<Account | undefined>;
  find(email: string): Promise<Account | undefined>;
  list(): Promise<(Account & { created_at: Date })[]>;
  /** False when there is no such account. */
  setPlan(id: Uuid, plan: string, actor: Actor): Promise<boolean>;
  rename(id: Uuid, name: string, actor: Actor): Promise<void>;
  /** @throws Error that names the plans there are. */
  checkPlan(plan: string): void;
}

/** What mail servers and browsers agree on in practice; better-auth asks the same at sign-in (zod's `email`). */
const emailShape =
  /^(?!\.)(?!.*\.\.)[A-Za-z0-9_'+\-.]{0,63}[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]{0,62}\.){1,8}[A-Za-z]{2,63}$/;

export function isEmail(text: string): boolean {
  return text.length <= 254 && emailShape.test(text);
}

export function createAccounts(parts: { db: Db; clock: Clock; plans: Plans; audit: Audit }): Accounts {
  const { db, clock, plans, audit } = parts;
  const checkPlan = (plan: string) => {
    if (!Object.hasOwn(plans, plan))
      throw new Error(`There is no plan "${plan}"; there are ${Object.keys(plans).join(', ')}.`);
  };
  const find = (email: string) =>
    db
      .selectFrom('accounts')
      .select(['id', 'email', 'plan'])
      .where((where) => where(where.fn<string>('lower', ['email']), '=', email.toLowerCase()))
      .executeTakeFirst();
  const create: Accounts['create'] = async (tx, { email, plan }, actor) => {
    checkPlan(plan);
    const account = { id: newUuid(clock), email, plan };
    const made = await tx
      .insertInto('accounts')
      .values({ ...account, name: email })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst();
    if (made === undefined) return undefined;
    await audit.record(tx, { accountId: account.id, actor, action: 'account.created', subject: email });
    return account;
  };
  return {
    find,
    create,
    checkPlan,
    async ensure(email, plan, actor) {
      checkPlan(plan);
      if (!isEmail(email)) throw new Error(`"${email}" is not an e-mail address.`);
      const made = await db.transaction().execute((tx) => create(tx, { email, plan }, actor));
      const account = made ?? (await find(email));
      if (account === undefined) throw new Error('The account could not be made.');
      return account;
    },
    list: () => db.selectFrom('accounts').select(['id', 'email', 'plan', 'created_at']).orderBy('id').execute(),
    async setPlan(id, plan, actor) {
      checkPlan(plan);
      return db.transaction().execute(async (tx) => {
        const changed = await tx
          .updateTable('accounts')
          .set({ plan })
          .where('id', '=', id)
          .returning('id')
          .executeTakeFirst();
        if (changed === undefined) return false;
        await audit.record(tx, { accountId: id, actor, action: 'account.plan_set', subject: plan });
        await notify(tx, accountsChannel, '');
        return true;
      });
    },
    async rename(id, name, actor) {
      await db.transaction().execute(async (tx) => {
        await tx.updateTable('accounts').set({ name }).where('id', '=', id).execute();
        await audit.record(tx, { accountId: id, actor, action: 'account.renamed', subject: name });
      });
    },
  };
}

export function accountId(account: Account): string {
  return publicId('account', account.id);
}
