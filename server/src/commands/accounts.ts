import { defineCommand } from 'citty';
import { mkdir } from 'node:fs/promises';
import { accountId, createAccounts, type Accounts } from '../accounts/accounts.ts';
import { createAdministration, type Administration } from '../accounts/administration.ts';
import { commandLine, createAudit } from '../accounts/audit.ts';
import { createTokens, type Tokens } from '../accounts/tokens.ts';
import { linkAddress } from '../accounts/links.ts';
import { originOf, readConfig, type Config } from '../config.ts';
import { openDatabase } from '../db/database.ts';
import { systemClock } from '../lib/clock.ts';
import { parseId } from '../lib/ids.ts';
import { createLog } from '../lib/log.ts';

interface Registry {
  config: Config;
  accounts: Accounts;
  tokens: Tokens;
  administration: Administration;
  release(): Promise<void>;
}

async function openRegistry(): Promise<Registry> {
  const config = readConfig();
  await mkdir(config.dataDirectory, { recursive: true, mode: 0o700 });
  const database = await openDatabase(config, createLog('error'));
  const parts = { db: database.db, clock: systemClock, plans: config.plans };
  const audit = createAudit(parts);
  const accounts = createAccounts({ ...parts, audit });
  return {
    config,
    accounts,
    tokens: createTokens({ ...parts, audit }),
    administration: createAdministration({ ...parts, accounts }),
    release: () => database.close(),
  };
}

/** Opens accounts and tokens for one command, beside a running server or without one. A mistake is one line and exit code 1. */
async function withRegistry(act: (registry: Registry) => Promise<void>): Promise<void> {
  try {
    const registry = await openRegistry();
    try {
      await act(registry);
    } finally {
      await registry.release();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800, y: 31_536_000 };

/** `30d`, `12h`, `0`: seconds. */
export function parseDuration(text: string): number {
  const match = /^(\d{1,6})([smhdwy]?)$/.exec(text);
  if (match === null) throw new Error(`"${text}" is not a duration such as 30d, 12h or 90s.`);
  return Number(match[1]) * (unitSeconds[match[2] ?? ''] ?? 1);
}

function expiryFrom(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds === 0) throw new Error('A token cannot expire at once.');
  return new Date(systemClock.now().getTime() + seconds * 1000);
}

function tokenUuid(id: string): string {
  const uuid = parseId('token', id);
  if (uuid === undefined) throw new Error(`"${id}" is not the id of a token (tok_…); see: millrun token list`);
  return uuid;
}

function day(date: Date | null): string {
  return date === null ? '-' : date.toISOString().slice(0, 16).replace('T', ' ');
}

function table(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}

const email = { type: 'string', required: true, description: 'The account’s e-mail address' } as const;

const createToken = defineCommand({
  meta: { description: 'Make a token; prints it alone, for the only time. Makes the account when there is none' },
  args: {
    email,
    plan: { type: 'string', description: 'Plan of the account: of a new one (pro unless told), or to change it to' },
    name: { type: 'string', default: 'token', description: 'What it is for' },
    expires: { type: 'string', description: 'When it ends: 30d, 12h, …; never unless told' },
  },
  run: ({ args }) =>
    withRegistry(async ({ accounts, tokens }) => {
      const expiresAt = expiryFrom(args.expires);
      const account = await accounts.ensure(args.email, args.plan ?? 'pro', commandLine);
      if (args.plan !== undefined && account.plan !== args.plan)
        await accounts.setPlan(account.id, args.plan, commandLine);
      const { token } = await tokens.create(account.id, { name: args.name, expiresAt }, commandLine);
      console.log(token);
    }),
});

const listTokens = defineCommand({
  meta: { description: 'List tokens' },
  args: { email: { type: 'string', description: 'Of this account only' } },
  run: ({ args }) =>
    withRegistry(async ({ accounts, tokens }) => {
      const account = args.email === undefined ? undefined : await accounts.find(args.email);
      if (args.email !== undefined && account === undefined) throw new Error(`There is no account ${args.email}.`);
      const rows = (await tokens.list(account?.id)).map((token) => [
        token.id,
        token.email,
        token.name,
        `${token.prefix}…`,
        token.revoked_at === null ? 'active' : 'revoked',
        day(token.created_at),
        day(token.expires_at),
        day(token.last_used_at),
      ]);
      table([['ID', 'ACCOUNT', 'NAME', 'TOKEN', 'STATE', 'CREATED', 'EXPIRES', 'LAST USED'], ...rows]);
    }),
});

const rotateToken = defineCommand({
  meta: { description: 'Make a new token in the place of one; prints it alone' },
  args: {
    id: { type: 'positional', required: true, description: 'tok_…' },
    overlap: {
      type: 'string',
      default: '0',
      description: 'How long the former one keeps working: 24h, …; not at all unless told',
    },
  },
  run: ({ args }) =>
    withRegistry(async ({ tokens }) => {
      const fresh = await tokens.rotate({ id: tokenUuid(args.id) }, parseDuration(args.overlap), commandLine);
      if (fresh === undefined) throw new Error('There is no such token that is not revoked.');
      console.log(fresh.token);
    }),
});

const revokeToken = defineCommand({
  meta: { description: 'End a token at once' },
  args: { id: { type: 'positional', required: true, description: 'tok_…' } },
  run: ({ args }) =>
    withRegistry(async ({ tokens }) => {
      if (!(await tokens.revoke({ id: tokenUuid(args.id) }, commandLine)))
        throw new Error('There is no such token that is not revoked.');
      console.log('Revoked.');
    }),
});

export const tokenCommand = defineCommand({
  meta: { description: 'API tokens' },
  subCommands: { create: createToken, list: listTokens, rotate: rotateToken, revoke: revokeToken },
});

export const accountCommand = defineCommand({
  meta: { description: 'Accounts and their plans' },
  subCommands: {
    create: defineCommand({
      meta: { description: 'Make an account' },
      args: {
        email,
        plan: { type: 'string', default: 'pro', description: 'free, pro, team, unlimited or one of yours' },
      },
      run: ({ args }) =>
        withRegistry(async ({ accounts }) => {
          if ((await accounts.find(args.email)) !== undefined)
            throw new Error(`There is an account ${args.email} already.`);
          console.log(accountId(await accounts.ensure(args.email, args.plan, commandLine)));
        }),
    }),
    list: defineCommand({
      meta: { description: 'List accounts' },
      run: () =>
        withRegistry(async ({ accounts }) => {
          const rows = (await accounts.list()).map((account) => [
            accountId(account),
            account.email,
            account.plan,
            day(account.created_at),
          ]);
          table([['ID', 'E-MAIL', 'PLAN', 'CREATED'], ...rows]);
        }),
    }),
    link: defineCommand({
      meta: { description: 'Print a one-time link to the account page: to choose a password, or a new one' },
      args: {
        email,
        plan: { type: 'string', default: 'pro', description: 'Plan of the account, if it is a new one' },
        admin: { type: 'boolean', default: false, description: 'Make the person an administrator' },
      },
      run: ({ args }) =>
        withRegistry(async ({ administration, config }) => {
          const link = await administration.letIn(args.email, args, commandLine);
          console.log(linkAddress(originOf(config), link.secret));
        }),
    }),
    'set-plan': defineCommand({
      meta: { description: 'Change the plan of an account' },
      args: {
        email,
        plan: { type: 'string', required: true, description: 'free, pro, team, unlimited or one of yours' },
      },
      run: ({ args }) =>
        withRegistry(async ({ accounts }) => {
          const account = await accounts.find(args.email);
          if (account === undefined) throw new Error(`There is no account ${args.email}.`);
          await accounts.setPlan(account.id, args.plan, commandLine);
          console.log(`${args.email} is on ${args.plan}.`);
        }),
    }),
  },
});
