import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ConfinedLevel, SandboxSpec } from './launcher.ts';
import { createSandbox, examineLevels, type Sandbox } from './sandbox.ts';

const mebibyte = 1024 * 1024;
const isRoot = process.getuid?.() === 0;
const levels: readonly ConfinedLevel[] = ['bubblewrap', 'unshare'];
const projectRoot = join(import.meta.dirname, '../../..');

const directory = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
const hidden = join(directory, 'data');
const work = join(hidden, 'run-1');
const input = join(hidden, 'input');

beforeAll(() => {
  for (const path of [hidden, work, input]) mkdirSync(path);
  writeFileSync(join(hidden, 'secret'), 'secret');
  writeFileSync(join(input, 'given.txt'), 'given');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function specOf(code: string, changes: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    program: '/opt/node',
    args: ['--input-type=module', '-e', code],
    readOnly: [
      { from: process.execPath, to: '/opt/node' },
      { from: input, to: '/in' },
    ],
    writable: [{ from: work, to: '/work' }],
    env: {},
    cwd: '/work',
    ...changes,
    limits: {
      memoryBytes: 1024 * mebibyte,
      fileBytes: 64 * mebibyte,
      openFiles: 256,
      processes: 128,
      temporaryBytes: 8 * mebibyte,
      ...changes.limits,
    },
  };
}

/** Runs a program of Node inside and returns what it sent with `process.send`, printed and ended with. */
async function runInside(sandbox: Sandbox, code: string, changes: Partial<SandboxSpec> = {}) {
  const tree = sandbox.launch(specOf(code, changes));
  // Each test knows what its program sends.
  // oxlint-disable-next-line typescript/no-explicit-any
  const messages: any[] = [];
  let output = '';
  tree.child.on('message', (message) => messages.push(message));
  for (const stream of [tree.child.stdout, tree.child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  return { ...(await tree.exited), messages, output };
}

/** An expression for inside: the code of the error `work` throws, or `done`. */
const codeOf = (body: string) => `(() => { try { ${body}; return 'done'; } catch (error) { return error.code; } })()`;

/** How many processes on the whole machine have this among their arguments. */
function processesWith(argument: string): number {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(argument);
    } catch {
      return false;
    }
  }).length;
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !holds(); tries++) await delay(10);
  expect(holds()).toBe(true);
}

let nextDuration = 4_000_000 + process.pid;
/** The argument of a `sleep` that no other process has. */
const uniqueDuration = () => String((nextDuration += 1));

/** For inside: starts a `sleep` in a session of its own that does not end on SIGTERM. */
const stubbornSleep = (duration: string) => `
  const { spawn } = await import('node:child_process');
  const sleeper = spawn('/usr/bin/sh', ['-c', 'trap "" TERM; sleep ${duration}'], { detached: true, stdio: 'ignore' });
  sleeper.unref();
  await new Promise((resolve) => setTimeout(resolve, 100));`;

describe.each(levels)('the %s sandbox', (level) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await createSandbox({ policy: 'require', hiddenDirectory: hidden, levels: [level] });
  });

  test('passes its self-test', () => {
    expect(sandbox.level).toBe(level);
    expect(sandbox.detail).toContain(level);
    expect(sandbox.pathInside({ from: work, to: '/work' })).toBe('/work');
  });

  test('carries messages both ways', async () => {
    const tree = sandbox.launch(
      specOf(`process.on('message', (m) => process.send({ echo: m }, () => process.exit(7)))`),
    );
    const answer = once(tree.child, 'message');
    tree.child.send({ text: 'grüße' });
    expect((await answer)[0]).toEqual({ echo: { text: 'grüße' } });
    expect(await tree.exited).toEqual({ code: 7, signal: null, started: true });
    expect(tree.child.connected).toBe(false);
  });

  test('has no network: neither the host nor its abstract sockets can be reached', async () => {
    let connections = 0;
    const server = createServer(() => (connections += 1)).listen(0, '127.0.0.1');
    const abstract = createServer(() => (connections += 1)).listen(`\0millrun-test-${process.pid}`);
    await Promise.all([once(server, 'listening'), once(abstract, 'listening')]);
    const { port } = server.address() as { port: number };
    const { messages } = await runInside(
      sandbox,
      `import { connect } from 'node:net'; import { readFileSync } from 'node:fs';
       const tryTo = (to) => new Promise((r) => connect(to).on('connect', () => r('connected')).on('error', (e) => r(e.code)));
       process.send({
         address: await tryTo({ host: '127.0.0.1', port: ${port} }),
         abstract: await tryTo({ path: '\\0millrun-test-${process.pid}' }),
         interfaces: readFileSync('/proc/net/dev', 'utf8').match(/\\w+(?=:)/g),
       });`,
    );
    server.close();
    abstract.close();
    expect(messages).toEqual([
      { address: level === 'bubblewrap' ? 'EPERM' : 'ENETUNREACH', abstract: 'ECONNREFUSED', interfaces: ['lo'] },
    ]);
    expect(connections).toBe(0);
  });

  test('shows no files, users or processes of the host', async () => {
    const { messages } = await runInside(
      sandbox,
      `import { existsSync, readdirSync } from 'node:fs';
       process.send({
         visible: ${JSON.stringify([hidden, directory, '/etc/passwd', '/etc/hosts', '/root', '/home', '/sys', '/host/etc'])}.filter((p) => existsSync(p)),
         temporary: readdirSync('/tmp'),
         input: readdirSync('/in'),
         processes: readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length,
         uid: process.getuid(), gid: process.getgid(),
       });`,
    );
    expect(messages[0]).toMatchObject({ visible: [], temporary: [], input: ['given.txt'], uid: 65534, gid: 65534 });
    expect(messages[0].processes).toBeLessThan(5);
  });

  test('lets a program write its work directory and /tmp and nothing else', async () => {
    const { messages } = await runInside(
      sandbox,
      `import { writeFileSync } from 'node:fs';
       const paths = ['/work/out', '/tmp/x', '/dev/shm/x', '/in/x', '/in/given.txt', '/usr/x', '/etc/x', '/x', '/dev/x', '/opt/node'];
       process.send(Object.fromEntries(paths.map((path) => [path, ${codeOf(`writeFileSync(path, 'made inside')`)}])));`,
    );
    const refused = 'EROFS';
    expect(messages[0]).toEqual({
      '/work/out': 'done',
      '/tmp/x': 'done',
      '/dev/shm/x': 'done',
      '/in/x': refused,
      '/in/given.txt': refused,
      '/usr/x': refused,
      '/etc/x': refused,
      '/x': refused,
      '/dev/x': refused,
      '/opt/node': expect.stringMatching(/EROFS|ETXTBSY/),
    });
    expect(readFileSync(join(work, 'out'), 'utf8')).toBe('made inside');
    expect(existsSync('/tmp/x')).toBe(false);
  });

  test('keeps every setting of the kernel from being written', async () => {
    const { messages } = await runInside(
      sandbox,
      `import { closeSync, openSync, readdirSync } from 'node:fs';
       const open = [];
       const walk = (folder) => {
         for (const entry of readdirSync(folder, { withFileTypes: true })) {
           const path = folder + '/' + entry.name;
           if (/^.proc.\\d+$/.test(path)) continue;
           try {
             if (entry.isDirectory()) walk(path);
             else if (entry.isFile()) { closeSync(openSync(path, 'r+')); open.push(path); }
           } catch {}
         }
       };
       walk('/proc');
       process.send({ open });`,
    );
    expect(messages).toEqual([{ open: [] }]);
  });

  test('passes on the given environment only', async () => {
    const { messages } = await runInside(sandbox, `delete process.env.PWD; process.send(process.env);`, {
      env: { GIVEN: 'a b' },
    });
    const base = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' };
    expect(messages).toEqual([{ ...base, GIVEN: 'a b' }]);
  });

  test('passes on no file the service was started with', async () => {
    const script = `
      import { createSandbox } from ${JSON.stringify(join(import.meta.dirname, 'sandbox.ts'))};
      const sandbox = await createSandbox({ policy: 'require', hiddenDirectory: '/nowhere', levels: ['${level}'] });
      const tree = sandbox.launch({ ...${JSON.stringify(specOf(''))}, program: '/usr/bin/readlink', args: ['/proc/self/fd/37'] });
      tree.child.stdout.pipe(process.stdout);
      await tree.exited;`;
    const leaked = openSync(join(hidden, 'secret'), 'r');
    const stdio = [
      ...Array<'ignore'>(37)
        .fill('ignore')
        .with(1, 'pipe' as never),
      leaked,
    ];
    const result = spawnSync(process.execPath, ['--input-type=module', '-e', script], { stdio });
    closeSync(leaked);
    expect(result.stdout.toString().trim()).toBe('/dev/null');
  });

  test('takes all privileges away', async () => {
    const { messages } = await runInside(
      sandbox,
      `import { readFileSync } from 'node:fs'; import { spawnSync } from 'node:child_process';
       const status = readFileSync('/proc/self/status', 'utf8');
       const field = (name) => status.match(new RegExp('^' + name + ':\\\\s*(\\\\w+)', 'm'))[1];
       const run = (...command) => spawnSync(command[0], command.slice(1)).status;
       process.send({
         fields: ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp'].map(field),
         namespaces: ['--user', '--mount', '--net', '--pid'].map((kind) => run('/usr/bin/unshare', kind, '/usr/bin/true')),
         mount: run('/usr/bin/mount', '-t', 'tmpfs', 'none', '/tmp'),
         remount: run('/usr/bin/mount', '-o', 'remount,bind,rw', '/usr'),
         true: run('/usr/bin/true'),
       });`,
    );
    expect(messages[0].fields.slice(0, 6)).toEqual([...Array<string>(5).fill('0'.repeat(16)), '1']);
    expect(messages[0].fields[6]).toBe(level === 'bubblewrap' ? '2' : '0');
    expect(messages[0].namespaces.every((status: number) => status > 0)).toBe(true);
    expect(messages[0]).toMatchObject({ mount: expect.toSatisfy((n) => n > 0), true: 0 });
    expect(messages[0].remount).toBeGreaterThan(0);
  });

  test('limits memory, file size and temporary space', async () => {
    const { messages } = await runInside(
      sandbox,
      `import { writeFileSync, openSync, writeSync } from 'node:fs'; import { spawnSync } from 'node:child_process';
       const part = Buffer.alloc(1024 * 1024);
       const fill = (path) => { const file = openSync(path, 'w'); for (let i = 0; i < 20; i++) writeSync(file, part); };
       process.send({
         file: ${codeOf(`fill('/work/big')`)},
         temporary: ${codeOf(`fill('/tmp/big')`)},
         shared: ${codeOf(`fill('/dev/shm/big')`)},
         memory: spawnSync(process.execPath, ['-e', 'Buffer.alloc(2 ** 30, 1)']).status,
         less: spawnSync(process.execPath, ['-e', 'Buffer.alloc(2 ** 27, 1)']).status,
       });`,
      { limits: { ...specOf('').limits, fileBytes: 16 * mebibyte } },
    );
    expect(messages[0]).toMatchObject({ file: 'EFBIG', temporary: 'ENOSPC', shared: 'ENOSPC', less: 0 });
    expect(messages[0].memory).not.toBe(0);
  });

  test('ends with everything a program left behind', async () => {
    const duration = uniqueDuration();
    const end = await runInside(sandbox, `${stubbornSleep(duration)} process.exit(3);`);
    expect(end).toMatchObject({ code: 3, signal: null, started: true });
    expect(processesWith(duration)).toBe(0);
  });

  test('kills processes that left the session and ignore SIGTERM', async () => {
    const duration = uniqueDuration();
    const tree = sandbox.launch(specOf(`${stubbornSleep(duration)} process.send({}); setInterval(() => {}, 1000);`));
    await once(tree.child, 'message');
    expect(processesWith(duration)).toBeGreaterThan(0);
    tree.kill();
    expect(await tree.exited).toEqual({ code: null, signal: 'SIGKILL', started: true });
    expect(processesWith(duration)).toBe(0);
    tree.kill();
  });

  test('leaves nothing when it is killed while it is being set up', async () => {
    const duration = uniqueDuration();
    for (let wait = 0; wait < 30; wait += 3) {
      const tree = sandbox.launch(specOf('', { program: '/usr/bin/sleep', args: [duration] }));
      await delay(wait);
      tree.kill();
      expect(await tree.exited).toMatchObject({ signal: 'SIGKILL' });
      expect(processesWith(duration)).toBe(0);
    }
  });

  test('leaves nothing when the service is killed', async () => {
    const duration = uniqueDuration();
    const script = `
      import { createSandbox } from ${JSON.stringify(join(import.meta.dirname, 'sandbox.ts'))};
      const sandbox = await createSandbox({ policy: 'require', hiddenDirectory: '/nowhere', levels: ['${level}'] });
      sandbox.launch(${JSON.stringify(specOf(`${stubbornSleep(duration)} setInterval(() => {}, 1000);`))});`;
    const service = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'inherit' });
    await until(() => processesWith(duration) > 0);
    service.kill('SIGKILL');
    await until(() => processesWith(duration) === 0);
  });

  test('tells a sandbox that could not be set up from a program that failed', async () => {
    const missing = await runInside(sandbox, '', { readOnly: [{ from: join(directory, 'missing'), to: '/in' }] });
    expect(missing).toMatchObject({ started: false });
    expect(missing.code).not.toBe(0);
    const noProgram = await runInside(sandbox, '', { program: '/opt/missing' });
    expect(noProgram).toMatchObject({ started: true, code: 127 });
    expect(await runInside(sandbox, 'process.exit(1)')).toMatchObject({ started: true, code: 1 });
    expect(await runInside(sandbox, 'process.abort()')).toMatchObject({ started: true, code: null, signal: 'SIGABRT' });
  });

  test.each([
    ['is not JSON', `'{oops\\n'`],
    ['is not an object', `'null\\n'`],
    ['never ends', `'x'.repeat(6 * 1024 * 1024)`],
  ])('kills a program whose message %s', async (_name, text) => {
    const code = `import { writeSync } from 'node:fs';
      let left = Buffer.from(${text});
      while (left.length > 0) { try { left = left.subarray(writeSync(3, left)); } catch (e) { if (e.code !== 'EAGAIN') throw e; } }
      setInterval(() => {}, 1000);`;
    expect(await runInside(sandbox, code)).toMatchObject({ signal: 'SIGKILL', messages: [] });
  });

  test('refuses mounts that would undo it', () => {
    const launchWith = (from: string, to: string) => () => sandbox.launch(specOf('', { writable: [{ from, to }] }));
    expect(launchWith(hidden, '/work')).toThrow(/must not be visible/);
    expect(launchWith('/', '/work')).toThrow(/must not be visible/);
    expect(launchWith(work, '/')).toThrow(/no place/);
    expect(launchWith(work, '/proc/sys')).toThrow(/no place/);
    expect(launchWith(work, '/work/../usr')).toThrow(/no place/);
    expect(launchWith(work, 'work')).toThrow(/no place/);
  });

  test('mounts paths with blanks and quotes as they are', async () => {
    const odd = join(hidden, `o'd $(touch x) "d*r\\ `);
    mkdirSync(odd, { recursive: true });
    const end = await runInside(sandbox, `import { writeFileSync } from 'node:fs'; writeFileSync('/a b/$c', '1');`, {
      writable: [{ from: odd, to: '/a b' }],
      cwd: '/a b',
    });
    expect(end).toMatchObject({ code: 0, output: '' });
    expect(readdirSync(odd)).toEqual(['$c']);
  });

  test('lets engines work: sharp, Ghostscript, qpdf', async () => {
    const { messages, output } = await runInside(
      sandbox,
      `import { createRequire } from 'node:module'; import { execFileSync } from 'node:child_process';
       const sharp = createRequire('/project/x.js')('sharp');
       const create = { width: 40, height: 30, channels: 3, background: 'red' };
       const png = await sharp({ create }).rotate(90).png().toBuffer();
       const text = '%!PS\\n/Helvetica 20 selectfont 50 50 moveto (Hello) show showpage\\n';
       execFileSync('/usr/bin/gs', ['-q', '-sDEVICE=pdfwrite', '-o', 'hello.pdf', '-'], { input: text });
       const check = execFileSync('/usr/bin/qpdf', ['--check', 'hello.pdf']).toString();
       process.send({ height: (await sharp(png).metadata()).height, check });`,
      {
        readOnly: [
          { from: process.execPath, to: '/opt/node' },
          { from: join(projectRoot, 'node_modules'), to: '/project/node_modules' },
        ],
      },
    );
    expect(output).toBe('');
    expect(messages[0].height).toBe(40);
    expect(messages[0].check).toContain('No syntax or stream encoding errors found');
  });

  test.runIf(isRoot)('makes what is mounted below a read-only directory read-only too', async () => {
    const outer = join(directory, `outer-${level}`);
    mkdirSync(join(outer, 'with blank'), { recursive: true });
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'noexec', 'none', join(outer, 'with blank')]);
    try {
      const { messages } = await runInside(
        sandbox,
        `import { writeFileSync } from 'node:fs';
         process.send({ write: ${codeOf(`writeFileSync('/outer/with blank/x', '')`)} });`,
        { readOnly: [...specOf('').readOnly, { from: outer, to: '/outer' }] },
      );
      expect(messages).toEqual([{ write: 'EROFS' }]);
    } finally {
      spawnSync('umount', [join(outer, 'with blank')]);
    }
  });

  // Everything else runs as whoever runs the tests; as an ordinary user that is this one already.
  test.runIf(isRoot)('works for an ordinary user, for whom the number of processes is limited as well', () => {
    const home = join(directory, `ordinary-${level}`);
    mkdirSync(join(home, 'work'), { recursive: true });
    spawnSync('chown', ['-R', '31000:31000', home]);
    spawnSync('chmod', ['711', directory]);
    const bomb = `
      const { spawn } = require('node:child_process');
      let errors = 0, last;
      for (let n = 0; n < 60; n++) last = spawn('/usr/bin/sleep', ['1']).on('error', () => (errors += 1));
      setTimeout(() => { console.log(errors > 10); process.exit(); }, 100);`;
    const spec: SandboxSpec = {
      ...specOf('', { readOnly: [{ from: process.execPath, to: '/opt/node' }] }),
      args: ['-e', bomb],
      writable: [{ from: join(home, 'work'), to: '/work' }],
      limits: { ...specOf('').limits, processes: 50 },
    };
    const script = `
      import { createSandbox } from ${JSON.stringify(join(import.meta.dirname, 'sandbox.ts'))};
      const sandbox = await createSandbox({ policy: 'require', hiddenDirectory: ${JSON.stringify(home)}, levels: ['${level}'] });
      const tree = sandbox.launch(${JSON.stringify(spec)});
      tree.child.stdout.pipe(process.stdout);
      tree.child.stderr.pipe(process.stderr);
      console.log(sandbox.level, await tree.exited);`;
    const identity = ['--reuid', '31000', '--regid', '31000', '--clear-groups'];
    const node = [process.execPath, '--input-type=module', '-e', script];
    const result = spawnSync('setpriv', [...identity, ...node], { cwd: '/', encoding: 'utf8' });
    expect(result.stderr).toBe('');
    expect(result.stdout).toContain('true');
    expect(result.stdout).toContain(`${level} { code: 0, signal: null, started: true }`);
  });
});

describe('without a sandbox', () => {
  test('limits, environment, messages and kill still work', async () => {
    const sandbox = await createSandbox({ policy: 'off', hiddenDirectory: hidden });
    expect(sandbox.level).toBe('none');
    expect(sandbox.pathInside({ from: work, to: '/work' })).toBe(work);
    const plain = { program: process.execPath, cwd: work };
    const ended = await runInside(sandbox, `process.send(process.env); process.exitCode = 4;`, plain);
    expect(ended).toMatchObject({ code: 4, signal: null, started: true });
    expect(
      Object.keys(ended.messages[0])
        .filter((name) => name !== 'PWD')
        .toSorted(),
    ).toEqual(['HOME', 'LANG', 'PATH', 'TMPDIR']);
    expect(existsSync(ended.messages[0].TMPDIR)).toBe(false);

    const duration = uniqueDuration();
    const code = `import { spawn } from 'node:child_process'; spawn('sleep', ['${duration}']); process.send({});`;
    const tree = sandbox.launch(specOf(code, plain));
    await once(tree.child, 'message');
    tree.kill();
    expect(await tree.exited).toMatchObject({ signal: 'SIGKILL' });
    await until(() => processesWith(duration) === 0);
  });

  test('a program that does not exist is an end, not an exception', async () => {
    const sandbox = await createSandbox({ policy: 'off', hiddenDirectory: hidden });
    const end = await runInside(sandbox, '', { program: '/opt/missing', cwd: work });
    expect(end.code).not.toBe(0);
  });
});

describe('a level whose self-test fails', () => {
  const options = { hiddenDirectory: '/usr' }; // Visible in every sandbox.

  test('is refused when a sandbox is required, with the reason', async () => {
    await expect(createSandbox({ ...options, policy: 'require' })).rejects.toThrow(
      'No sandbox works here. bubblewrap: The data directory is visible inside. unshare: The data directory',
    );
  });

  test('gives no sandbox otherwise, with the reason', async () => {
    const sandbox = await createSandbox({ ...options, policy: 'auto' });
    expect(sandbox).toMatchObject({ level: 'none', detail: expect.stringContaining('directory is visible inside') });
  });

  test('is told to doctor, level by level', async () => {
    expect(await examineLevels('/usr')).toMatchObject([
      { level: 'bubblewrap', works: false },
      { level: 'unshare', works: false },
    ]);
    expect((await examineLevels(hidden)).map((report) => report.works)).toEqual([true, true]);
  });
});
