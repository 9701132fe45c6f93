import { notify, type Db } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { newUuid, publicId, type Uuid } from '../lib/ids.ts';
import type { Plans } from './plans.ts';
import { accountsChannel } from './tokens.ts';

export interface Account {
  id: Uuid;
  email: string;
  plan: string;
}

export interface Accounts {
  /** The account with this address, made when there is none. */
  ensure(email: string, plan: string): Promise<Account>;
  find(email: string): Promise<Account | undefined>;
  list(): Promise<(Account & { created_at: Date })[]>;
  /** False when there is no such account. */
  setPlan(email: string, plan: string): Promise<boolean>;
}

/** Enough to catch a slip of the finger; whether mail arrives there is another matter. */
const emailShape = /^[^\s@]{1,64}@[^\s@]{1,255}$/;

export function createAccounts(parts: { db: Db; clock: Clock; plans: Plans }): Accounts {
  const { db, clock, plans } = parts;
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
  return {
    find,
    async ensure(email, plan) {
      checkPlan(plan);
      if (!emailShape.test(email)) throw new Error(`"${email}" is not an e-mail address.`);
      await db
        .insertInto('accounts')
        .values({ id: newUuid(clock), email, plan })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const account = await find(email);
      if (account === undefined) throw new Error('The account could not be made.');
      return account;
    },
    list: () => db.selectFrom('accounts').select(['id', 'email', 'plan', 'created_at']).orderBy('id').execute(),
    async setPlan(email, plan) {
      checkPlan(plan);
      const account = await find(email);
      if (account === undefined) return false;
      await db.updateTable('accounts').set({ plan }).where('id', '=', account.id).execute();
      await notify(db, accountsChannel, '');
      return true;
    },
  };
}

export function accountId(account: Account): string {
  return publicId('account', account.id);
}
