/**
 * Hostile files through the public interface: each ends as a clear failure, a refusal at the door or a safe result, and
 * the service goes on. Crafted after the attacks measured in the reference on hardening.
 */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ErrorBody, Run, Submission } from '@millrun/sdk';
import { libreoffice } from '../../src/engines/libreoffice.ts';
import type { Client, FormFile } from '../client.ts';
import { animation, hugePngHeader } from '../image-fixtures.ts';
import { linkedPicture, paragraph, writeDocx } from '../office-fixtures.ts';
import { pdfFixture, popplerText } from '../pdf-checks.ts';
import { useServer } from '../scenario.ts';

const scenario = useServer();
let client: Client;
let directory: string;

beforeAll(async () => {
  client = await scenario.client();
  directory = await mkdtemp(join(tmpdir(), 'millrun-hostile-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What becomes of a submission: refused at the door, or the run at its end. */
async function fate(tool: string, files: FormFile[], settings?: Record<string, string>): Promise<ErrorBody | Run> {
  const response = await client.submit(tool, files, settings);
  if (response.status !== 202) {
    expect(response.status).toBe(422);
    return (await response.json()) as ErrorBody;
  }
  return client.finished(((await response.json()) as Submission).id);
}

/** Refused, or failed with a reason that is about the file; never `internal`, and never the engine's own words. */
function expectClearFailure(result: ErrorBody | Run): void {
  if (!('id' in result)) {
    expect(Object.keys(result.errors ?? {})).not.toHaveLength(0);
    return;
  }
  expect(result.status).toBe('failed');
  expect(['invalid_input', 'resource_limit', 'password_required', 'timed_out', 'engine_failed']).toContain(
    result.error?.code,
  );
  expect(result.error?.message).not.toMatch(/vips|pdfium|Error:|\/work|\/run\/|\/tmp|node_modules/i);
}

async function firstOutput(run: ErrorBody | Run): Promise<Buffer> {
  if (!('id' in run) || run.outputs?.[0] === undefined) throw new Error(JSON.stringify(run));
  return Buffer.from(await (await fetch(run.outputs[0].url)).arrayBuffer());
}

function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** A PNG of real pixels, one bit each: 16,000 x 16,000 of them in 31 kB. */
function pixelFlood(side: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header[8] = 1;
  const rows = Buffer.alloc((side / 8 + 1) * side);
  const parts = [pngChunk('IHDR', header), pngChunk('IDAT', deflateSync(rows)), pngChunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

const svg = (inside: string, before = '') =>
  `<?xml version="1.0"?>${before}<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="64" height="64">${inside}</svg>`;

/** Ten levels of ten uses: 10^10 rectangles to draw. */
function useBomb(): string {
  const levels = Array.from(
    { length: 10 },
    (_, i) => `<g id="l${i + 1}">${`<use xlink:href="#l${i}"/>`.repeat(10)}</g>`,
  );
  return svg(`<defs><rect id="l0" width="9" height="9"/>${levels.join('')}</defs><use xlink:href="#l10"/>`);
}

const laughs = `<!DOCTYPE svg [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, i) => {
  const before = String.fromCharCode(97 + i);
  return `<!ENTITY ${String.fromCharCode(98 + i)} "${`&${before};`.repeat(10)}">`;
}).join('')}]>`;

test('a name cut in the middle of a character ends as a clear failure', async () => {
  const tar = pack();
  tar.entry({ name: `../${'a'.repeat(76)}${'😀'.repeat(3)}` }, 'x');
  tar.finalize();
  const content = await buffer(tar as AsyncIterable<Buffer>);
  expectClearFailure(await fate('archive-extractor', [{ filename: 'x.tar', content }]));
});

describe('Images', () => {
  test.each<[string, () => Promise<Buffer | string> | Buffer | string]>([
    ['a header that claims 50,000 x 50,000 pixels', hugePngHeader],
    ['256 million real pixels in 31 kB', () => pixelFlood(16_000)],
    ['a PNG cut off in the middle', () => pixelFlood(800).subarray(0, 60)],
    [
      'a PNG of random bytes behind its signature',
      () => Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.from(randomUUID().repeat(50))]),
    ],
    ['an animation cut off in the middle', async () => (await animation('gif')).subarray(0, 200)],
  ])('%s ends as a clear failure', async (_name, make) => {
    expectClearFailure(await fate('image-resizer', [{ filename: 'x.png', content: await make() }], { width: '50' }));
  });

  test.each([
    ['entities that multiply', svg('<text>&j;</text>', laughs)],
    ['ten billion uses', useBomb()],
    ['a million pixels square', '<svg xmlns="http://www.w3.org/2000/svg" width="1000000" height="1000000"/>'],
    ['50,000 nested groups', svg(`${'<g>'.repeat(50_000)}${'</g>'.repeat(50_000)}`)],
  ])('an SVG with %s does not hang', async (_name, content) => {
    const result = await fate('image-converter', [{ filename: 'x.svg', content }], { format: 'png' });
    if (!('id' in result) || result.status === 'failed') expectClearFailure(result);
  });

  test('an SVG cannot read a file of the host', async () => {
    const attack = svg(
      '<image xlink:href="file:///etc/hostname" width="64" height="64"/><text>&x;</text>',
      '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
    );
    const result = await fate('image-compressor', [{ filename: 'x.svg', content: attack }]);
    if ('id' in result && result.status === 'done')
      expect((await firstOutput(result)).toString()).not.toContain('SYSTEM');
    else expectClearFailure(result);
  });

  test('a page of HTML behind a PNG signature loses its script when it is encoded again', async () => {
    const png = pixelFlood(64);
    const content = Buffer.concat([png, Buffer.from('<script>alert(1)</script>')]);
    const result = await fate('image-converter', [{ filename: 'x.png', content }], { format: 'webp' });
    if ('id' in result && result.status === 'done')
      expect((await firstOutput(result)).includes('<script>')).toBe(false);
    else expectClearFailure(result);
  });

  test('other formats under the name of a PNG are refused at the door', async () => {
    for (const content of [
      '%!PS\nshowpage',
      'push graphic-context\nviewbox 0 0 9 9',
      'MZ\x90\0\x03',
      '#EXTM3U\nfile:///etc/passwd',
    ]) {
      expect(await fate('image-resizer', [{ filename: 'x.png', content }], { width: '9' })).toMatchObject({
        code: 'validation_failed',
        errors: { 'files.0': expect.anything() },
      });
    }
  });
});

describe('PDFs', () => {
  test.each([
    'kids-loop',
    'flate-bomb',
    'truncated',
    'cut-in-half',
    'zero-pages',
    'huge-page',
    'locked',
    'unknown-encryption',
  ])('%s.pdf ends as a clear failure or a safe result in every tool', async (name) => {
    const path = pdfFixture(name);
    const results = await Promise.all([
      fate('pdf-to-image-converter', [path], { dpi: '36', pages: '1' }),
      fate('pdf-text-extractor', [path]),
      fate('pdf-compressor', [path]),
      fate('pdf-splitter', [path]),
      fate('pdf-merger', [path, pdfFixture('three-pages')]),
    ]);
    for (const result of results) if (!('id' in result) || result.status === 'failed') expectClearFailure(result);
  });

  test('a locked PDF says that it needs a password, by name', async () => {
    const result = await fate('pdf-merger', [pdfFixture('three-pages'), pdfFixture('locked')]);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'password_required', file: 'locked.pdf' } });
  });
});

describe('Tables and archives', () => {
  test('a table with a __proto__ column stays data', async () => {
    const run = await fate('csv-to-json-converter', [{ filename: 'x.csv', content: '__proto__,constructor\n1,2\n' }]);
    expect((await firstOutput(run)).toString()).toContain('"__proto__"');
  });

  test('names with paths stay inside the archive', async () => {
    const files = ['../../etc/passwd', '/etc/shadow', String.raw`..\..\x.txt`, '-rf', 'a\u202egpj.exe'].map(
      (filename) => ({ filename, content: 'x' }),
    );
    const run = await fate('archive-creator', files, { format: 'tar' });
    const archive = (await firstOutput(run)).toString('latin1');
    expect(archive).not.toMatch(/\.\.[/\\]|\/etc\//);
  });
});

describe.skipIf((await libreoffice.version()) === undefined)('Documents (needs LibreOffice)', () => {
  test('a document cannot fetch an address or show a file of the host', async () => {
    let calls = 0;
    const canary = createServer((_request, response) => {
      calls += 1;
      response.end();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => canary.once('listening', resolve));
    const { port } = canary.address() as AddressInfo;
    const secret = join(directory, 'secret.txt');
    writeFileSync(secret, 'the secret of the host');
    const remote = linkedPicture('r1', `http://127.0.0.1:${port}/canary.png`);
    const local = linkedPicture('r2', `file://${secret}`);
    const path = await writeDocx(join(directory, 'attack.docx'), {
      body: paragraph('What the reader sees.') + remote.body + local.body,
      relationships: remote.relationship + local.relationship,
    });
    const run = await fate('word-to-pdf-converter', [path]);
    const pdf = join(directory, 'attack.pdf');
    writeFileSync(pdf, await firstOutput(run));
    canary.close();
    expect(calls).toBe(0);
    expect(popplerText(pdf).join('')).toContain('What the reader sees.');
    expect(popplerText(pdf).join('')).not.toContain('secret');
  });

  test('a document with entities that multiply ends as a clear failure', async () => {
    const path = await writeDocx(join(directory, 'laughs.docx'), { body: '<w:p><w:r><w:t>&j;</w:t></w:r></w:p>' });
    const result = await fate('word-to-pdf-converter', [path]);
    if (!('id' in result) || result.status === 'failed') expectClearFailure(result);
  });
});

test('the service is in good health after all of this', async () => {
  const ready = await fetch(`${scenario.server.origin}/readyz`);
  expect(ready.status).toBe(200);
  const run = await fate('qr-code-generator', [], { text: 'still here' });
  expect(run).toMatchObject({ status: 'done' });
  expect(scenario.server.log()).not.toMatch(/"level":60/);
});
