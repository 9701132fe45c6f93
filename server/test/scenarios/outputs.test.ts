import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl';
import type { Output, Run, Submission } from '@millrun/sdk';
import { parseId } from '../../src/lib/ids.ts';
import { createLinkSigner } from '../../src/runs/links.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Client } from '../client.ts';
import { quarters } from '../image-fixtures.ts';
import { multipart, multipartType } from '../raw-http.ts';
import { cancel, errorOf, getRun, queryDatabase, startSlow, submitQuick, useServer } from '../scenario.ts';

const scenario = useServer();
let client: Client;
let run: Run;
let output: Output;
let bytes: Buffer;
beforeAll(async () => {
  client = await scenario.client();
  run = await client.finished(await submitQuick(client));
  output = onlyOutput(run);
  bytes = await download(output.url);
});

function onlyOutput({ outputs }: Run): Output {
  const [only, ...others] = outputs ?? [];
  if (only === undefined || others.length > 0) throw new Error(`one output was wanted, not ${outputs?.length}`);
  return only;
}

async function download(url: string, init: RequestInit = {}): Promise<Buffer> {
  const response = await fetch(url, init);
  expect(response.ok).toBe(true);
  return Buffer.from(await response.arrayBuffer());
}

const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
const withoutQuery = (url: string) => url.split('?')[0] ?? '';

/** An address with one part of its query replaced. */
function tampered(url: string, name: string, value: string): string {
  const changed = new URL(url);
  changed.searchParams.set(name, value);
  return changed.href;
}

describe('a download address', () => {
  test('needs no token, and gives the file as it was announced', () => {
    expect(bytes.length).toBe(output.size_bytes);
    expect(sha256(bytes)).toBe(output.sha256);
  });

  test('takes a token as well, also one that is not valid: the signature is enough', async () => {
    expect(sha256(Buffer.from(await (await client.request(output.url)).arrayBuffer()))).toBe(output.sha256);
    expect(sha256(await download(output.url, { headers: { Authorization: 'Bearer of-somebody-else' } }))).toBe(
      output.sha256,
    );
  });

  test('without its signature is the owner’s alone', async () => {
    const plain = withoutQuery(output.url);
    expect((await client.request(plain)).status).toBe(200);
    expect((await client.request(`/runs/${run.id}/outputs/0`)).status).toBe(200);
    await errorOf(await fetch(plain), 401);
    await errorOf(await (await scenario.client()).request(plain), 404);
  });

  test('is no good once anything of it was changed', async () => {
    const { searchParams } = new URL(output.url);
    const [expires, signature] = [Number(searchParams.get('expires')), searchParams.get('signature') ?? ''];
    expect(expires - systemClock.now().getTime() / 1000).toBeGreaterThan(3000);
    expect(expires - systemClock.now().getTime() / 1000).toBeLessThanOrEqual(3600);
    const other = await client.finished(await submitQuick(client));
    const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`;
    for (const forged of [
      tampered(output.url, 'expires', String(expires + 1)),
      tampered(output.url, 'expires', '99999999999'),
      tampered(output.url, 'expires', `0${expires}`.padStart(20, '0')),
      tampered(output.url, 'expires', 'never'),
      tampered(output.url, 'expires', ''),
      tampered(output.url, 'signature', flipped),
      tampered(output.url, 'signature', signature.slice(0, -1)),
      tampered(output.url, 'signature', ''),
      tampered(output.url, 'signature', `${signature}=`),
      `${output.url}&signature=${signature}`,
      output.url.replace(run.id, other.id),
      output.url.replace('/outputs/0/', '/outputs/1/'),
      output.url.replace('/outputs/0/', '/outputs/-1/'),
      output.url.replace('/outputs/0/', '/outputs/x/'),
    ]) {
      const error = await errorOf(await fetch(forged), 404);
      expect(error.code, forged).toBe('not_found');
    }
  });

  test('is 410 when its hour is over, and a GET of the run gives a new one', async () => {
    const id = parseId('run', run.id) ?? '';
    const keys = await queryDatabase<{ value: Buffer }>(scenario.server, 'select value from secrets where name = $1', [
      'download-links',
    ]);
    const anHourAgo = { ...systemClock, now: () => new Date(systemClock.now().getTime() - 3_601_000) };
    const signer = createLinkSigner(keys[0]?.value ?? Buffer.alloc(0), anHourAgo);
    const expired = signer.links(scenario.server.base).output(id, 0, output.filename);
    expect((await errorOf(await fetch(expired), 410)).code).toBe('link_expired');
    // The same signer a moment later would have been believed: it was the hour, not the signature.
    const now = createLinkSigner(keys[0]?.value ?? Buffer.alloc(0), systemClock);
    expect((await fetch(now.links(scenario.server.base).output(id, 0, output.filename))).status).toBe(200);
    expect((await fetch(onlyOutput(await getRun(client, run.id)).url)).status).toBe(200);
  });

  test('names no output of a run that has none', async () => {
    const slow = await startSlow(client);
    await errorOf(await client.request(`/runs/${slow}/outputs/0`), 404);
    await cancel(client, slow);
    await errorOf(await client.request(`/runs/${slow}/outputs/0`), 404);
    for (const index of ['1', '-1', 'x', '00000000', '0x0']) {
      await errorOf(await client.request(`/runs/${run.id}/outputs/${index}`), 404);
    }
  });

  test('takes no other method', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) await errorOf(await fetch(output.url, { method }), 405);
  });
});

describe('the reply of a download', () => {
  test('says what the file is, and that nothing in it may run', async () => {
    const { headers } = await fetch(output.url);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="qr-code.png"; filename*=UTF-8''qr-code.png`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringMatching(/^sandbox;.*default-src 'none'/),
      'accept-ranges': 'bytes',
      etag: `"${output.sha256}"`,
      'x-request-id': expect.stringMatching(/\S/),
      'cache-control': expect.stringContaining('private'),
    });
  });

  test('is the same for a drawing, which a browser could take for a page', async () => {
    const { id } = await client.accepted('qr-code-generator', [], { text: '<script>alert(1)</script>', format: 'svg' });
    const { url } = onlyOutput(await client.finished(id));
    const { headers } = await fetch(url);
    expect(headers.get('content-type')).toBe('image/svg+xml');
    expect(headers.get('content-disposition')).toMatch(/^attachment;/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
  });

  test('to HEAD has the same headers and no body', async () => {
    const [get, head] = [await fetch(output.url), await fetch(output.url, { method: 'HEAD' })];
    const own = new Set(['date', 'x-request-id', 'connection', 'keep-alive']);
    const facts = ({ status, headers }: Response) => [status, ...[...headers].filter(([name]) => !own.has(name))];
    expect(facts(head)).toEqual(facts(get));
    expect((await head.arrayBuffer()).byteLength).toBe(0);
    await errorOf(await fetch(tampered(output.url, 'signature', 'x')), 404);
    expect((await fetch(tampered(output.url, 'signature', 'x'), { method: 'HEAD' })).status).toBe(404);
  });
});

describe('a range of a download', () => {
  const ask = (range: string, headers: Record<string, string> = {}) =>
    fetch(output.url, { headers: { Range: range, ...headers } });

  test('is those bytes alone', async () => {
    const size = bytes.length;
    const cases: [range: string, start: number, end: number][] = [
      ['bytes=0-9', 0, 9],
      ['bytes=10-10', 10, 10],
      [`bytes=${size - 1}-`, size - 1, size - 1],
      ['bytes=100-', 100, size - 1],
      ['bytes=-7', size - 7, size - 1],
      [`bytes=-${size + 100}`, 0, size - 1],
      [`bytes=5-${size + 100}`, 5, size - 1],
      ['bytes=0-', 0, size - 1],
    ];
    for (const [range, start, end] of cases) {
      const response = await ask(range);
      expect(response.status, range).toBe(206);
      expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${size}`);
      expect(response.headers.get('content-length')).toBe(String(end - start + 1));
      expect(Buffer.from(await response.arrayBuffer())).toEqual(bytes.subarray(start, end + 1));
    }
  });

  test('puts a broken download together again', async () => {
    const half = Math.floor(bytes.length / 2);
    const first = Buffer.from(await (await ask(`bytes=0-${half - 1}`)).arrayBuffer());
    const rest = await ask(`bytes=${half}-`, { 'If-Range': `"${output.sha256}"` });
    expect(rest.status).toBe(206);
    expect(sha256(Buffer.concat([first, Buffer.from(await rest.arrayBuffer())]))).toBe(output.sha256);
  });

  test('is the whole file for a client that has begun with another one', async () => {
    for (const ifRange of ['"of-another-file"', `W/"${output.sha256}"`, 'Sat, 21 Nov 2026 10:00:00 GMT']) {
      const response = await ask('bytes=10-', { 'If-Range': ifRange });
      expect(response.status, ifRange).toBe(200);
      expect(sha256(Buffer.from(await response.arrayBuffer()))).toBe(output.sha256);
    }
  });

  test('is the whole file where it cannot be read or is several', async () => {
    for (const range of ['bytes=9-5', 'bytes=-', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,3-4', '0-5']) {
      const response = await ask(range);
      expect(response.status, range).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBe(bytes.length);
    }
  });

  test('outside the file is 416 and tells its size', async () => {
    for (const range of [`bytes=${bytes.length}-`, 'bytes=99999999-', 'bytes=-0']) {
      const response = await ask(range);
      expect(response.headers.get('content-range'), range).toBe(`bytes */${bytes.length}`);
      expect((await errorOf(response, 416)).code).toBe('range_not_satisfiable');
    }
  });

  test('is not for HEAD: it tells of the whole file', async () => {
    const response = await fetch(output.url, { method: 'HEAD', headers: { Range: 'bytes=0-9' } });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
  });
});

/** Submits one PNG under names as they are written on the wire. */
async function submitNamed(dispositions: readonly string[]): Promise<Run> {
  const content = await quarters(16, 16).png().toBuffer();
  const response = await client.request('/tools/image-converter', {
    method: 'POST',
    body: multipart([
      ...dispositions.map((filename) => ({ disposition: `name="files[]"; ${filename}`, content })),
      { disposition: 'name="format"', content: 'webp' },
    ]),
    headers: { 'Content-Type': multipartType },
  });
  expect(response.status).toBe(202);
  return client.finished(((await response.json()) as Submission).id);
}

const emoji = '👨‍👩‍👧';
/** What a client sends as the name, and the stem that is left of it. */
const hostile: [wire: string, stem: string][] = [
  ['filename="../../etc/passwd.png"', 'passwd'],
  [String.raw`filename="..\\..\\windows\\win.png"`, 'win'],
  ['filename="/absolute/path.png"', 'path'],
  ['filename="<img src=x onerror=alert(1)>.png"', '<img src=x onerror=alert(1)>'],
  [String.raw`filename="quo\"te.png"`, 'quo"te'],
  ['filename="per%cent%0d%0aX-Evil: 1.png"', 'per%cent%0d%0aX-Evil: 1'],
  ['filename="semi;colon.png"', 'semi;colon'],
  ['filename="CON.png"', '_CON'],
  ['filename="-rf.png"', 'rf'],
  ['filename=".hidden.png"', 'hidden'],
  ['filename="Übersicht für Ärzte.png"', 'Übersicht für Ärzte'],
  ['filename="日本語のファイル.png"', '日本語のファイル'],
  [`filename="${emoji}.png"`, emoji],
  ['filename="e\u0301te\u0301.png"', '\u00e9t\u00e9'],
  ['filename="invoice\u202egnp.png"', 'invoicegnp'],
  [`filename="${'ы'.repeat(97)}.png"`, 'ы'.repeat(97)],
];

describe('hostile and foreign file names', () => {
  test('are only ever data: outputs keep what is harmless of them', async () => {
    for (const [wire, stem] of hostile) {
      const made = await submitNamed([wire]);
      const { filename, url } = onlyOutput(made);
      expect(filename, wire).toMatch(/\.webp$/);
      expect(filename.slice(0, -'.webp'.length), wire).toBe(stem);
      expect(made.inputs[0]?.filename).toBe(`${stem}.png`);

      const response = await fetch(url);
      expect(response.status, wire).toBe(200);
      const disposition = response.headers.get('content-disposition') ?? '';
      const [, plain, extended] =
        /^attachment; filename="([^"\\\r\n]*)"; filename\*=UTF-8''(\S+)$/.exec(disposition) ?? [];
      expect(decodeURIComponent(extended ?? '')).toBe(filename);
      expect(plain).toMatch(/^[\x20-\x7e]+\.webp$/);
      expect(response.headers.has('x-evil')).toBe(false);
      expect((await response.arrayBuffer()).byteLength).toBe(onlyOutput(made).size_bytes);
    }
  });

  test('that are nothing but tricks leave a plain name', async () => {
    const made = await submitNamed(['filename=".."', 'filename="/"', 'filename="\u202e"']);
    expect(made.outputs?.map(({ filename }) => filename)).toEqual(['file.webp', 'file-1.webp', 'file-2.webp']);
  });

  test('may come in the extended form of a header', async () => {
    const made = await submitNamed([`filename="plain.png"; filename*=UTF-8''na%C3%AFve.png`]);
    expect(['naïve.webp', 'plain.webp']).toContain(onlyOutput(made).filename);
  });

  test('that clash get a number, whatever their case', async () => {
    const made = await submitNamed(
      ['photo.png', 'Photo.PNG', 'photo.jpg', 'photo-1.png'].map((name) => `filename="${name}"`),
    );
    expect(made.outputs?.map(({ filename }) => filename)).toEqual([
      'photo.webp',
      'Photo-1.webp',
      'photo-2.webp',
      'photo-1-1.webp',
    ]);
  });
});

interface Unpacked {
  filename: string;
  content: Buffer;
}

/** Unpacks with a reader that shares nothing with the writer, and checks what it leaves to its caller. */
async function unpack(zip: Buffer): Promise<Unpacked[]> {
  const archive = await fromBufferPromise(zip, { lazyEntries: true, strictFileNames: true });
  const unpacked: Unpacked[] = [];
  for await (const entry of archive.eachEntry()) {
    const content = await readEntry(archive, entry);
    expect(crc32(content)).toBe(entry.crc32);
    unpacked.push({ filename: entry.fileName, content });
  }
  expect(unpacked).toHaveLength(archive.entryCount);
  return unpacked;
}

async function readEntry(archive: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await archive.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

describe('the archive of a run', () => {
  async function archiveOf(of: Run): Promise<Unpacked[]> {
    const response = await client.request(`/runs/${of.id}/archive`);
    expect(response.status).toBe(200);
    return unpack(Buffer.from(await response.arrayBuffer()));
  }
  const facts = (unpacked: readonly Unpacked[]) =>
    unpacked.map(({ filename, content }) => [filename, content.length, sha256(content)]);

  test('holds every output under its name, in order', async () => {
    const list = { filename: 'list.txt', content: Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\n') };
    const { id } = await client.accepted('qr-code-generator', [list], { size: '64' });
    const many = await client.finished(id);
    expect(many.outputs).toHaveLength(30);
    expect(facts(await archiveOf(many))).toEqual(
      many.outputs?.map(({ filename, size_bytes, sha256: digest }) => [filename, size_bytes, digest]),
    );
  });

  test('keeps names of any language, and no name leaves the folder it is unpacked in', async () => {
    // A backslash in a name would be a folder on Windows; the reader refuses one, `..` and a leading slash.
    const made = await submitNamed(hostile.map(([wire]) => wire));
    const unpacked = await archiveOf(made);
    expect(unpacked.map(({ filename }) => filename)).toEqual(made.outputs?.map(({ filename }) => filename));
    for (const { filename } of unpacked) expect(filename).not.toMatch(/[/\\\0]/);
  });

  test('is a download like any other', async () => {
    const { headers } = await client.request(`/runs/${run.id}/archive`);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': expect.stringMatching(/^attachment; filename="qr-code-generator-[0-9a-z]{8}\.zip"/),
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/\S/),
    });
  });

  test('is there for a run that is done, and for its owner', async () => {
    const slow = await startSlow(client);
    const error = await errorOf(await client.request(`/runs/${slow}/archive`), 409);
    expect(error).toMatchObject({ code: 'run_not_done', status: 'processing' });
    await cancel(client, slow);
    await errorOf(await client.request(`/runs/${slow}/archive`), 409);
    await errorOf(await fetch(`${scenario.server.base}/runs/${run.id}/archive`), 401);
  });

  test('has an address of its own that needs no token, and opens nothing else', async () => {
    const address = run.archive_url ?? '';
    const response = await fetch(address);
    expect(response.headers.get('content-type')).toBe('application/zip');
    expect(facts(await unpack(Buffer.from(await response.arrayBuffer())))).toHaveLength(run.outputs?.length ?? 0);
    const other = await client.finished(await submitQuick(client));
    const { search } = new URL(address);
    for (const forged of [
      address.replace(run.id, other.id),
      withoutQuery(output.url) + search,
      withoutQuery(address) + new URL(output.url).search,
      tampered(address, 'expires', '99999999999'),
    ])
      await errorOf(await fetch(forged), 404);
  });
});

describe('outputs that are no longer kept', () => {
  test('are 410, and the run says so by having none', async () => {
    const old = await client.finished(await submitQuick(client));
    const { url } = onlyOutput(old);
    await queryDatabase(scenario.server, 'update runs set files_removed = true where id = $1', [
      parseId('run', old.id),
    ]);
    expect((await errorOf(await fetch(url), 410)).code).toBe('outputs_expired');
    expect((await errorOf(await client.request(`/runs/${old.id}/archive`), 410)).code).toBe('outputs_expired');
    expect((await errorOf(await client.request(`/runs/${old.id}/retry`, { method: 'POST' }), 410)).code).toBe(
      'inputs_expired',
    );
    expect(await getRun(client, old.id)).toMatchObject({ status: 'done', outputs: [], expires_at: null });
  });
});
