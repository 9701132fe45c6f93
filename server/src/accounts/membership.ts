import type { Invitation, Member, Membership as MembershipView, MemberRole } from '@millrun/web/wire';
import type { Db, Tx } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError, notFound, validationFailed } from '../lib/errors.ts';
import { parseId, publicId, type Uuid } from '../lib/ids.ts';
import { isEmail } from './accounts.ts';
import type { Actor, Audit } from './audit.ts';
import { makeLink, type NewLink } from './links.ts';
import type { Plans } from './plans.ts';

/** Who shares an account. Only owners are let to the verbs that change something; the edge sees to that. */
export interface Membership {
  view(accountId: Uuid, asOwner: boolean): Promise<MembershipView>;
  /** A link that leads into the account. @throws AppError 409 `members_full`, 422. */
  invite(accountId: Uuid, invitation: { email: string | null; role: MemberRole }, actor: Actor): Promise<NewLink>;
  withdraw(accountId: Uuid, invitationId: string, actor: Actor): Promise<void>;
  /** @throws AppError 404, 409 `last_owner`. */
  setRole(accountId: Uuid, memberId: string, role: MemberRole, actor: Actor): Promise<Member>;
  /** @throws AppError 404, 409 `last_owner`. */
  remove(accountId: Uuid, memberId: string, actor: Actor): Promise<void>;
}

export function createMembership(parts: { db: Db; clock: Clock; plans: Plans; audit: Audit }): Membership {
  const { db, clock, plans, audit } = parts;

  const selectMembers = (from: Db | Tx, accountId: Uuid) =>
    from
      .selectFrom('members as m')
      .innerJoin('people as p', 'p.id', 'm.person_id')
      .select(['p.id', 'p.email', 'm.role', 'm.joined_at'])
      .where('m.account_id', '=', accountId)
      .orderBy('m.joined_at')
      .orderBy('p.id');

  const selectInvitations = (accountId: Uuid) =>
    db
      .selectFrom('links')
      .select(['id', 'email', 'role', 'created_at', 'expires_at'])
      .where('account_id', '=', accountId)
      .where('purpose', '=', 'invitation')
      .where('expires_at', '>', clock.now())
      .orderBy('id');

  /** The member, with every member of the account locked: two owners cannot leave each other alone. */
  async function lockMember(tx: Tx, accountId: Uuid, memberId: string) {
    const id = parseId('person', memberId);
    const all = await selectMembers(tx, accountId).forUpdate('m').execute();
    const member = all.find((each) => each.id === id);
    if (member === undefined) throw notFound('There is no member with this id.');
    const isLastOwner = member.role === 'owner' && all.filter(({ role }) => role === 'owner').length === 1;
    return { member, isLastOwner };
  }

  return {
    async view(accountId, asOwner) {
      const [members, invitations, plan] = await Promise.all([
        selectMembers(db, accountId).execute(),
        asOwner ? selectInvitations(accountId).execute() : [],
        db.selectFrom('accounts').select('plan').where('id', '=', accountId).executeTakeFirstOrThrow(),
      ]);
      return {
        members: members.map(viewMember),
        invitations: invitations.map((row): Invitation => ({
          id: publicId('link', row.id),
          email: row.email,
          role: row.role ?? 'member',
          created_at: row.created_at.toISOString(),
          expires_at: row.expires_at.toISOString(),
        })),
        most_members: plans[plan.plan]?.members ?? 1,
      };
    },
    invite: (accountId, { email, role }, actor) =>
      db.transaction().execute(async (tx) => {
        if (email !== null && !isEmail(email)) throw validationFailed({ email: ['is not an e-mail address'] });
        await checkRoom(tx, plans, accountId, 1);
        const address = email?.toLowerCase();
        const members = await selectMembers(tx, accountId).execute();
        if (members.some((member) => member.email === address))
          throw validationFailed({ email: ['is a member of this account already'] });
        await audit.record(tx, {
          accountId,
          actor,
          action: 'member.invited',
          subject: address ?? 'whoever has the link',
        });
        return makeLink(tx, clock, { purpose: 'invitation', email: address, accountId, role });
      }),
    withdraw: (accountId, invitationId, actor) =>
      db.transaction().execute(async (tx) => {
        const gone = await tx
          .deleteFrom('links')
          .where('id', '=', parseId('link', invitationId) ?? null)
          .where('account_id', '=', accountId)
          .where('purpose', '=', 'invitation')
          .returning('email')
          .executeTakeFirst();
        if (gone === undefined) throw notFound('There is no invitation with this id.');
        const subject = gone.email ?? 'whoever has the link';
        await audit.record(tx, { accountId, actor, action: 'invitation.withdrawn', subject });
      }),
    setRole: (accountId, memberId, role, actor) =>
      db.transaction().execute(async (tx) => {
        const { member, isLastOwner } = await lockMember(tx, accountId, memberId);
        if (isLastOwner && role !== 'owner') throw lastOwner();
        await tx
          .updateTable('members')
          .set({ role })
          .where('account_id', '=', accountId)
          .where('person_id', '=', member.id)
          .execute();
        await audit.record(tx, { accountId, actor, action: 'member.role_set', subject: `${member.email}: ${role}` });
        return viewMember({ ...member, role });
      }),
    remove: (accountId, memberId, actor) =>
      db.transaction().execute(async (tx) => {
        const { member, isLastOwner } = await lockMember(tx, accountId, memberId);
        if (isLastOwner) throw lastOwner();
        await tx.deleteFrom('members').where('account_id', '=', accountId).where('person_id', '=', member.id).execute();
        await audit.record(tx, { accountId, actor, action: 'member.removed', subject: member.email });
      }),
  };
}

/**
 * The plan's number of people holds, with so many more to come; the account stays locked, so two cannot pass at once. The
 * lock is one that a new member's reference to the account allows: two that came in first would wait for each other.
 *
 * @throws AppError 409 `members_full`.
 */
export async function checkRoom(tx: Tx, plans: Plans, accountId: Uuid, more = 0): Promise<void> {
  const { plan } = await tx
    .selectFrom('accounts')
    .select('plan')
    .where('id', '=', accountId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  const most = plans[plan]?.members ?? 1;
  if (most === 0) return;
  const { count } = await tx
    .selectFrom('members')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  if (Number(count) + more <= most) return;
  const people = most === 1 ? 'one person' : `${most} people`;
  throw new AppError(409, 'members_full', `The plan "${plan}" allows ${people} in an account.`);
}

function viewMember(row: { id: Uuid; email: string; role: MemberRole; joined_at: Date }): Member {
  return { id: publicId('person', row.id), email: row.email, role: row.role, joined_at: row.joined_at.toISOString() };
}

function lastOwner(): AppError {
  return new AppError(409, 'last_owner', 'An account needs an owner: make somebody else one first.');
}
