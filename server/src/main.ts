import { clientCommands } from '@millrun/sdk/commands';
import { defineCommand, runMain } from 'citty';
import { toError } from './lib/errors.ts';

type Role = 'serve' | 'api' | 'worker';

/** A command loads what it needs when it runs: `token create` must not wait for the engines of the service. */
const roleCommand = (role: Role, description: string) =>
  defineCommand({ meta: { description }, run: async () => (await import('./commands/serve.ts')).start(role) });

const main = defineCommand({
  meta: { name: 'millrun', description: 'Self-hosted file processing.' },
  subCommands: {
    serve: roleCommand('serve', 'API, worker and database in one process'),
    api: roleCommand('api', 'The API alone'),
    worker: roleCommand('worker', 'A worker alone'),
    migrate: defineCommand({
      meta: { description: 'Bring the database up to date' },
      run: async () => (await import('./commands/migrate.ts')).migrateOnly(),
    }),
    token: async () => (await import('./commands/accounts.ts')).tokenCommand,
    account: async () => (await import('./commands/accounts.ts')).accountCommand,
    doctor: defineCommand({
      meta: { description: 'What works here, and how to mend what does not' },
      run: async () => (await import('./commands/doctor.ts')).doctor(),
    }),
    ...clientCommands,
  },
});

process.on('unhandledRejection', (reason) => {
  console.error(`Millrun stopped: ${toError(reason).stack ?? String(reason)}`);
  process.exit(1);
});
await runMain(main);
