import { execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { grain } from '../../server/test/image-fixtures.ts';
import { eventually, makeToken, useServer } from '../../server/test/scenario.ts';
import { createClient, type Millrun, type Output, type Run, type Tool } from '../src/index.ts';
import { sendJson, startLiar } from './liar.ts';

const launcher = fileURLToPath(new URL('../../server/bin/millrun.mjs', import.meta.url));
const scenario = useServer();
let token: string;
let client: Millrun;
let directory: string;
let photo: Buffer;

beforeAll(async () => {
  token = await makeToken(scenario.server);
  client = createClient({ baseUrl: scenario.server.origin, token });
  photo = await (await grain(600, 400)).jpeg({ quality: 95 }).toBuffer();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  await writeFile(join(directory, 'photo.jpg'), photo);
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** The environment of somebody who uses the server. */
function environment(over: Record<string, string> = {}): NodeJS.ProcessEnv {
  const url = { MILLRUN_URL: scenario.server.origin, MILLRUN_TOKEN: token };
  return { PATH: process.env['PATH'] ?? '', ...url, ...over };
}

async function millrun(args: string[], over: Record<string, string> = {}): Promise<Ended> {
  const options = { cwd: directory, env: environment(over) };
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [launcher, ...args], options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as Ended;
    return { code, stdout, stderr };
  }
}

describe('millrun run', () => {
  test('sends files with settings, saves what is made and prints its paths alone', async () => {
    await writeFile(join(directory, 'second.jpg'), photo);
    const ended = await millrun([
      'run',
      'image-compressor',
      'photo.jpg',
      'second.jpg',
      '--set',
      'quality=40',
      '--out=made/small',
    ]);
    expect(ended).toMatchObject({ code: 0, stdout: 'made/small/photo.jpg\nmade/small/second.jpg\n' });
    expect(ended.stderr).toMatch(/^Uploading\n(Queued.*\n)*(Processing.*\n)*Done: 2 files, .* from .*\.\n$/);
    const small = await readFile(join(directory, 'made/small/photo.jpg'));
    expect(small.length).toBeLessThan(photo.length);
    expect(await readdir(join(directory, 'made/small'))).toHaveLength(2);
  });

  test('replaces no file, unless it is told to', async () => {
    const args = ['run', 'image-compressor', 'photo.jpg'];
    expect((await millrun(args)).stdout).toBe('photo-1.jpg\n');
    expect((await millrun(args)).stdout).toBe('photo-2.jpg\n');
    expect(await readFile(join(directory, 'photo.jpg'))).toEqual(photo);
    expect((await millrun([...args, '--force'])).stdout).toBe('photo.jpg\n');
    expect(await readFile(join(directory, 'photo.jpg'))).not.toEqual(photo);
    expect((await readdir(directory)).toSorted()).toEqual(['photo-1.jpg', 'photo-2.jpg', 'photo.jpg']);
  });

  test('prints the run as JSON, with where its outputs are', async () => {
    const { code, stdout } = await millrun(['run', 'qr-code-generator', '--set', 'text=a=b', '--json']);
    expect(code).toBe(0);
    const run = JSON.parse(stdout) as Run & { saved: string[] };
    expect(run).toMatchObject({ status: 'done', settings: { text: 'a=b' }, saved: [join(directory, 'qr-code.png')] });
    const hash = createHash('sha256').update(await readFile(run.saved[0] ?? ''));
    expect(hash.digest('hex')).toBe(run.outputs?.[0]?.sha256);
  });

  test('that fails ends with 1 and says why in one sentence', async () => {
    await writeFile(join(directory, 'cut.jpg'), photo.subarray(0, 2000));
    const ended = await millrun(['run', 'image-compressor', 'cut.jpg']);
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr.trimEnd().split('\n').at(-1)).toMatch(/^"cut\.jpg" .*\.$/);
    const json = await millrun(['run', 'image-compressor', 'cut.jpg', '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'failed', error: { code: 'invalid_input' } });
    expect((await readdir(directory)).toSorted()).toEqual(['cut.jpg', 'photo.jpg']);
  });

  test.each([
    [['run'], 'TOOL is missing; see: millrun run --help'],
    [['run', 'no-such-tool', 'photo.jpg'], 'There is no tool with this slug.'],
    [['run', 'image-compressor'], 'image-compressor needs at least one file.'],
    [['run', 'image-compressor', 'nowhere.jpg'], 'nowhere.jpg does not exist.'],
    [['run', 'pdf-splitter', 'photo.jpg'], 'photo.jpg is a JPEG image; PDF Splitter takes PDF document.'],
    [
      ['run', 'image-compressor', 'photo.jpg', '--set', 'qualty=5'],
      'qualty is not a setting of this tool; did you mean "quality"?',
    ],
    [['run', 'image-compressor', 'photo.jpg', '--set', 'quality=500'], 'quality must be between 1 and 100.'],
    [
      ['run', 'image-compressor', 'photo.jpg', '--set', 'quality'],
      '--set takes name=value, such as quality=80, not "quality".',
    ],
    [['run', 'image-compressor', '--set', 'quality=5', '--set', 'quality=6'], 'The setting quality is given twice.'],
    [['run', 'image-compressor', 'photo.jpg', '--quality=5'], "Unknown option '--quality'."],
    [['run', 'image-compressor', 'photo.jpg', '--out'], "Option '--out <value>' argument missing."],
    [['run', 'image-compressor', 'photo.jpg', '--out', 'photo.jpg'], /^The directory photo\.jpg cannot be made: .*\.$/],
    [['runs', '--limit', '0'], '--limit takes a whole number of at least 1, not "0".'],
    [['runs', '--status', 'gone'], '--status takes one of queued, processing, done, failed, not "gone".'],
    [['runs', 'extra'], '"extra" is too much; see: millrun runs --help'],
    [['cancel', 'run_00000000000000000000000000'], 'There is no run with this id.'],
    [['get', '..'], '".." is not the id of a run; see: millrun runs'],
    [['cancel', 'run_1/outputs'], '"run_1/outputs" is not the id of a run; see: millrun runs'],
    [['run', '../runs'], '"../runs" is not the slug of a tool; see: millrun tools'],
    [['tools', '--url', 'nonsense'], /^The address or the token cannot be used: baseUrl must be .*\.$/],
    [['tools', '--token', 'mr_wrong'], 'The API token is not valid.'],
  ])('%j is refused with 2 and one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await millrun(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    const last = stderr.trimEnd().split('\n').at(-1);
    if (typeof sentence === 'string') expect(last).toBe(sentence);
    else expect(last).toMatch(sentence);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  test('without a token, or without a server, says what to do', async () => {
    const { code, stderr } = await millrun(['runs'], { MILLRUN_TOKEN: '' });
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('set MILLRUN_TOKEN') });
    const gone = await startLiar(() => undefined);
    await gone[Symbol.asyncDispose]();
    expect(await millrun(['runs'], { MILLRUN_URL: gone.origin })).toEqual({
      code: 2,
      stdout: '',
      stderr: `${gone.origin} cannot be reached: nothing listens there.\n`,
    });
  });

  test('Ctrl-C cancels the run and ends with 130', async () => {
    const lines = Array.from({ length: 1000 }, (_, line) => `line ${line}`);
    await writeFile(join(directory, 'list.txt'), lines.join('\n'));
    const args = [launcher, 'run', 'qr-code-generator', 'list.txt', '--set', 'size=4096'];
    const child = spawn(process.execPath, args, { cwd: directory, env: environment() });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const ended = once(child, 'exit');
    await eventually('it is processing', () => stderr.includes('Processing'));
    // As a terminal and npx do together: one Ctrl-C that comes twice.
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('Interrupted.');
    for await (const run of client.list({ pageSize: 1 })) {
      expect(run).toMatchObject({ tool: 'qr-code-generator', status: 'failed', error: { code: 'cancelled' } });
      break;
    }
    expect((await readdir(directory)).toSorted()).toEqual(['list.txt', 'photo.jpg']);
  });

  test('loads the client and nothing of the service', async () => {
    const hook = `import { registerHooks } from 'node:module';
      registerHooks({ load(url, context, next) { console.error('loaded ' + url); return next(url, context); } });`;
    const { stderr } = await millrun(['run'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}`,
    });
    const loaded = [...stderr.matchAll(/^loaded file:\/\/\S*\/(server\/\S+|node_modules\/\S+)$/gm)].map(
      ([, path]) => path,
    );
    expect(loaded.filter((path) => path?.startsWith('server/'))).toEqual([
      'server/bin/millrun.mjs',
      'server/src/main.ts',
      'server/src/lib/errors.ts',
    ]);
    for (const path of loaded.filter((one) => one?.startsWith('node_modules/'))) expect(path).toMatch(/\/citty\//);
  });
});

describe('what a server says', () => {
  const bytes = Buffer.from('gotcha');
  const sha256 = createHash('sha256').update(bytes).digest('hex');

  test('is hostile: names leave no directory, take nothing over and move no cursor', async () => {
    const names = ['../../escaped.txt', '/tmp/absolute.txt', '.bashrc', 'a\u001b[2Jb.txt', 'same.txt', 'same.txt'];
    await using liar = await startLiar((request, response) => {
      const at = `http://${request.headers.host}`;
      const outputs: Output[] = names.map((filename) => ({
        filename,
        url: `${at}/output`,
        size_bytes: bytes.length,
        media_type: 'text/plain',
        sha256,
      }));
      const submission = { id: 'run_1', status: 'queued', status_url: at, stream_url: at, tool: 'x', created_at: '' };
      if (request.url === '/output') response.end(bytes);
      else if (request.method === 'POST') sendJson(response, 202, submission);
      else if (request.url?.endsWith('/stream') === true)
        response
          .writeHead(200, { 'Content-Type': 'text/event-stream' })
          .end(`id: done\ndata: ${JSON.stringify({ status: 'done', outputs })}\n\n`);
      else sendJson(response, 200, { ...submission, status: 'done', outputs, inputs: [] });
    });
    const { code, stdout } = await millrun(['run', 'x', '--out', 'made', '--force'], { MILLRUN_URL: liar.origin });
    expect(code).toBe(0);
    const saved = ['escaped.txt', 'absolute.txt', 'bashrc', 'a[2Jb.txt', 'same.txt', 'same-1.txt'];
    expect(stdout).toBe(saved.map((name) => `made/${name}\n`).join(''));
    expect((await readdir(join(directory, 'made'))).toSorted()).toEqual(saved.toSorted());
    expect((await readdir(directory)).toSorted()).toEqual(['made', 'photo.jpg']);
  });

  test('in an error is one line without control characters', async () => {
    const body = { code: 'x', message: 'Look\u001b]0;here\u0007\nand there.', request_id: 'r' };
    await using liar = await startLiar((_request, response) => sendJson(response, 400, body));
    const { code, stderr } = await millrun(['tools'], { MILLRUN_URL: liar.origin });
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'Look ]0;here  and there.\n' });
  });
});

test('an upload is not held in memory', async () => {
  const bytes = 800_000_000;
  await writeFile(join(directory, 'large.bin'), '');
  await truncate(join(directory, 'large.bin'), bytes);
  let received = 0;
  await using liar = await startLiar((request, response) => {
    request.on('data', (chunk: Buffer) => (received += chunk.length));
    request.on('end', () => sendJson(response, 400, { code: 'x', message: 'Enough.', request_id: 'r' }));
  });
  const report = `process.on('exit', () => console.error('kB ' + process.resourceUsage().maxRSS));`;
  const { stderr } = await millrun(['run', 'any', 'large.bin'], {
    MILLRUN_URL: liar.origin,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(report)}`,
  });
  expect(received).toBeGreaterThan(bytes);
  expect(Number(/kB (\d+)/.exec(stderr)?.[1])).toBeLessThan(400_000);
});

describe('the other commands', () => {
  test('tools lists, searches, and shows one with its settings', async () => {
    const all = await millrun(['tools']);
    expect(all.stdout).toMatch(/^SLUG +CATEGORY +WHAT IT DOES\n/);
    expect(all.stdout).toMatch(/^image-compressor +image +\S/m);
    expect((await millrun(['tools', 'merge'])).stdout).not.toContain('image-compressor');
    const one = await millrun(['tools', 'image-compressor']);
    expect(one.stdout).toMatch(/^Image Compressor \(image-compressor\)\n/);
    expect(one.stdout).toMatch(/^quality +integer 1\.\.100 +80 +\S/m);
    expect(JSON.parse((await millrun(['tools', 'image-compressor', '--json'])).stdout)).toMatchObject({
      slug: 'image-compressor',
    });
    expect(
      (JSON.parse((await millrun(['tools', 'merge', '--json'])).stdout) as Tool[]).map(({ slug }) => slug),
    ).toContain('pdf-merger');
    expect(await millrun(['tools', 'nothing at all'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'There is no such tool.\n',
    });
  });

  test('runs lists them, get shows one and saves its outputs, cancel ends one', async () => {
    const done = await client.run('qr-code-generator', [], { text: 'x' });
    const { stdout } = await millrun(['runs', '--limit', '1', '--tool', 'qr-code-generator', '--status', 'done']);
    expect(stdout).toMatch(new RegExp(`^ID .*\\n${done.id} +qr-code-generator +done .*\\n$`));
    expect(JSON.parse((await millrun(['runs', '--limit', '1', '--json'])).stdout)).toMatchObject([{ id: done.id }]);
    expect((await millrun(['runs', '--tool', 'pdf-merger'])).stderr).toBe('There are no runs.\n');

    const shown = await millrun(['get', done.id]);
    expect(shown.stdout).toMatch(/^Run +run_\w+\nTool +qr-code-generator\nStatus +done\n/);
    expect(shown.stdout).toMatch(/^Output +qr-code\.png, /m);
    expect((await millrun(['get', done.id, '--out', 'made'])).stdout).toBe('made/qr-code.png\n');

    const lines = Array.from({ length: 1000 }, (_, line) => `line ${line}`).join('\n');
    const list = { filename: 'list.txt', content: Buffer.from(lines) };
    const { id } = await client.submit('qr-code-generator', [list], { size: 4096 });
    expect(await millrun(['get', id, '--out', '.'])).toMatchObject({ code: 2, stdout: '' });
    const cancelled = await millrun(['cancel', id]);
    expect(cancelled).toMatchObject({ code: 0, stderr: '' });
    expect((await millrun(['cancel', id])).code).toBe(2);
    const failed = await millrun(['get', id, '--out', '.']);
    expect(failed).toMatchObject({ code: 1, stdout: '' });
  });

  test('each has a help', async () => {
    for (const command of ['run', 'tools', 'runs', 'get', 'cancel']) {
      const { code, stdout } = await millrun([command, '--help'], { NO_COLOR: '1' });
      expect(code).toBe(0);
      expect(stdout).toContain(`USAGE millrun ${command} [OPTIONS]`);
      expect(stdout).toContain('MILLRUN_TOKEN');
    }
  });
});

test('the package works where nothing else of the project is', async () => {
  const modules = join(directory, 'node_modules');
  await mkdir(join(modules, '@millrun'), { recursive: true });
  await symlink(dirname(dirname(fileURLToPath(import.meta.resolve('citty')))), join(modules, 'citty'));
  const own = join(modules, '@millrun/sdk');
  execFileSync(process.execPath, [fileURLToPath(new URL('../build.ts', import.meta.url)), own]);
  await writeFile(
    join(directory, 'use.mjs'),
    `import { createClient } from '@millrun/sdk';
     const { MILLRUN_URL: baseUrl, MILLRUN_TOKEN: token } = process.env;
     const run = await createClient({ baseUrl, token }).run('qr-code-generator', [], { text: 'x' });
     console.log(run.status);`,
  );
  const options = { cwd: directory, env: environment(), encoding: 'utf8' } as const;
  expect(execFileSync(process.execPath, ['use.mjs'], options)).toBe('done\n');
  const args = [join(own, 'lib/main.js'), 'run', 'image-compressor', 'photo.jpg'];
  expect(execFileSync(process.execPath, args, { ...options, stdio: 'pipe' })).toBe('photo-1.jpg\n');
});
