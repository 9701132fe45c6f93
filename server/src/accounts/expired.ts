import type { Db } from '../db/database.ts';

const day = 86_400_000;
/** Audit entries are kept this long, in milliseconds. */
const keepAudit = 400 * day;

/** Removes sessions and links nobody can use any more, and audit entries that are very old. */
export async function removeExpired(db: Db, now: Date): Promise<void> {
  await db.deleteFrom('sessions').where('expires_at', '<', now).execute();
  await db.deleteFrom('verifications').where('expires_at', '<', now).execute();
  await db.deleteFrom('links').where('expires_at', '<', now).execute();
  await db
    .deleteFrom('audit_entries')
    .where('at', '<', new Date(now.getTime() - keepAudit))
    .execute();
}
