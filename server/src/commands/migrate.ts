import { readConfig } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { createLog } from '../lib/log.ts';

export async function migrateOnly(): Promise<void> {
  const config = readConfig();
  const database = await openDatabase(config, createLog(config.logLevel));
  await database.close();
  console.log('The database is up to date.');
}
