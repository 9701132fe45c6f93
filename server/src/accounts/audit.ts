import type { AuditAction, AuditEntry, AuditPage } from '@millrun/web/wire';
import type { Db, Tx } from '../db/database.ts';
import type { Clock } from '../lib/clock.ts';
import { badRequest } from '../lib/errors.ts';
import { newUuid, parseId, publicId, type Uuid } from '../lib/ids.ts';

/** Who does something, as the audit log names them. */
export interface Actor {
  /** E-mail address, `token <name>`, or `command line`. */
  name: string;
  /** Network address of the request; empty for the command line. */
  address: string;
}

export const commandLine: Actor = { name: 'command line', address: '' };

export interface Audit {
  /** Writes an entry in the transaction of what it tells. */
  record(tx: Tx | Db, entry: NewEntry): Promise<void>;
  /** Newest first. */
  list(accountId: Uuid, page: { limit: number; cursor?: string | undefined }): Promise<AuditPage>;
}

interface NewEntry {
  accountId: Uuid;
  actor: Actor;
  action: AuditAction;
  /** What it was done to. */
  subject: string;
}

const longestSubject = 300;

export function createAudit({ db, clock }: { db: Db; clock: Clock }): Audit {
  return {
    async record(tx, { accountId, actor, action, subject }) {
      const entry = {
        id: newUuid(clock),
        account_id: accountId,
        at: clock.now(),
        action,
        actor: actor.name,
        subject: subject.slice(0, longestSubject),
        address: actor.address,
      };
      await tx.insertInto('audit_entries').values(entry).execute();
    },
    async list(accountId, { limit, cursor }) {
      const before = cursor === undefined ? undefined : readCursor(cursor);
      const rows = await db
        .selectFrom('audit_entries')
        .select(['id', 'at', 'action', 'actor', 'subject', 'address'])
        .where('account_id', '=', accountId)
        .$if(before !== undefined, (query) => query.where('id', '<', before ?? ''))
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .execute();
      const data = rows
        .slice(0, limit)
        .map(({ id, at, ...row }): AuditEntry => ({ id: publicId('audit', id), at: at.toISOString(), ...row }));
      const more = rows.length > limit;
      return { data, next_cursor: more ? (data.at(-1)?.id ?? null) : null, has_more: more };
    },
  };
}

function readCursor(cursor: string): Uuid {
  const id = parseId('audit', cursor);
  if (id === undefined) throw badRequest('invalid_cursor', 'The cursor cannot be read; use next_cursor as it is.');
  return id;
}
