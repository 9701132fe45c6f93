import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { CFB } from '@e965/xlsx';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  commentedRtf,
  linkedPicture,
  pageBreak,
  paragraph,
  trackedChanges,
  writeDocx,
} from '../../../test/office-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { convertToPdf, libreoffice, stopLibreOffice, warmLibreOffice } from '../../engines/libreoffice.ts';
import { readPdf } from '../../engines/pdfium.ts';
import wordToPdf from './word-to-pdf-converter.ts';

const version = await libreoffice.version();
if (version === undefined) {
  console.warn(`SKIPPED: word-to-pdf-converter, because LibreOffice is missing: ${libreoffice.install}`);
}

const fixture = (name: string) => join(import.meta.dirname, '../../../test/fixtures/word', name);
const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

/** The text of each page. */
async function convert(path: string, form: Record<string, string> = {}): Promise<string[]> {
  await using result = await runTool(wordToPdf, [path], form);
  const [output] = result.outputs;
  expect(result.outputs).toHaveLength(1);
  expect(output!.type).toBe('pdf');
  return await pagesOf(output!.path);
}

async function pagesOf(path: string): Promise<string[]> {
  const pages: string[] = [];
  await readPdf({ path, filename: 'x.pdf', password: undefined, scratch: folder }, async (reader) => {
    for (let page = 0; page < reader.pageCount; page++) pages.push(reader.text(page).trim());
  });
  return pages;
}

/** Plain text as Word 6 keeps it: the stream holds where the text lies, and the text. */
function word6Document(text: string): Buffer {
  const head = Buffer.alloc(0x300);
  head.writeUInt16LE(0xa5dc, 0);
  head.writeUInt16LE(101, 2);
  head.writeUInt16LE(101, 12);
  head.writeUInt32LE(head.length, 0x18);
  head.writeUInt32LE(head.length + text.length + 1, 0x1c);
  head.writeUInt32LE(text.length + 1, 0x34);
  const container = CFB.utils.cfb_new();
  // Shorter streams are kept elsewhere.
  CFB.utils.cfb_add(container, '/WordDocument', Buffer.concat([head, Buffer.from(`${text}\r`), Buffer.alloc(4096)]));
  return CFB.write(container, { type: 'buffer' }) as Buffer;
}

describe.skipIf(version === undefined)('word-to-pdf-converter', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-word-'));
    await writeDocx(file('one.docx'), { body: paragraph('One page, äöü €') });
    const pages = ['Page A', 'Page B', 'Page C'].map(paragraph).join(pageBreak);
    await writeDocx(file('three.docx'), { body: pages });
    await writeDocx(file('changes.docx'), { body: trackedChanges });
    await warmLibreOffice();
  }, 120_000);

  afterAll(async () => {
    await stopLibreOffice();
    await rm(folder, { recursive: true, force: true });
  });

  test('prints a document with comments without them', async () => {
    await writeFile(file('comment.rtf'), commentedRtf);
    expect(await convert(file('comment.rtf'))).toEqual(['before after']);
    expect(await convert(file('comment.rtf'), { track_changes: 'show', pages: '1' })).toEqual(['before after']);
  });

  test('reads a document of Word 6', async () => {
    await writeFile(file('word6.doc'), word6Document('A letter of Word 6'));
    expect(await convert(file('word6.doc'))).toEqual(['A letter of Word 6']);
  });

  test('keeps the text of a DOCX and names the PDF after it', async () => {
    await using result = await runTool(wordToPdf, [file('one.docx')]);
    expect(result.outputs[0]!.filename).toBe('one.pdf');
    expect(await pagesOf(result.outputs[0]!.path)).toEqual(['One page, äöü €']);
  });

  test.each(['letter.doc', 'letter.odt', 'letter.rtf'])('reads %s', async (name) => {
    expect((await convert(fixture(name)))[0]).toContain('Second paragraph äöü €');
  });

  test.each([
    ['UTF-8 with a mark and CRLF', Buffer.from('\uFEFFerste äöü € 漢\r\nzweite\r\n'), 'erste äöü € 漢'],
    ['UTF-16', Buffer.from('\uFEFFerste äöü €\nzweite\n', 'utf16le'), 'erste äöü €'],
    ['Latin-1', Buffer.from('erste äöü\nzweite\n', 'latin1'), 'erste äöü'],
  ])('reads plain text in %s', async (_name, bytes, expected) => {
    await writeFile(file('plain.txt'), bytes);
    const [page] = await convert(file('plain.txt'));
    expect(page!.split(/\s*\n\s*/)).toEqual([expected, 'zweite']);
  });

  test('keeps only the pages that were asked for, in their order', async () => {
    expect(await convert(file('three.docx'), { pages: '3,1' })).toEqual(['Page C', 'Page A']);
    expect(await convert(file('three.docx'), { pages: '2-last' })).toEqual(['Page B', 'Page C']);
  });

  test('says that a page is not there, and works on after that', async () => {
    await expect(convert(file('three.docx'), { pages: '7' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('three.docx has 3 pages') as string,
    });
    expect(await convert(file('three.docx'))).toHaveLength(3);
  });

  test('accepts tracked changes, or shows them', async () => {
    expect(await convert(file('changes.docx'))).toEqual(['Keep INSERTED end']);
    expect((await convert(file('changes.docx'), { track_changes: 'show' }))[0]).toContain('DELETED');
  });

  test.each(['readOnly', 'trackedChanges'])('accepts tracked changes in a document protected with %s', async (edit) => {
    const settings = `<w:documentProtection w:edit="${edit}" w:enforcement="1"/>`;
    await writeDocx(file('protected.docx'), { body: trackedChanges, settings });
    expect(await convert(file('protected.docx'))).toEqual(['Keep INSERTED end']);
  });

  test('writes PDF/A-2b when asked', async () => {
    await using result = await runTool(wordToPdf, [file('one.docx')], { pdfa: 'true' });
    const pdf = await readFile(result.outputs[0]!.path, 'latin1');
    expect(pdf).toMatch(/<pdfaid:part>2<\/pdfaid:part>\s*<pdfaid:conformance>B</);
    expect(pdf).toContain('/OutputIntent');
  });

  test.each(['encrypted.docx', 'encrypted.odt', 'encrypted.doc'])('opens %s with its password only', async (name) => {
    await expect(convert(fixture(name))).rejects.toMatchObject({ code: 'password_required' });
    await expect(convert(fixture(name), { password: 'wrong' })).rejects.toMatchObject({ code: 'password_required' });
    expect((await convert(fixture(name), { password: 'geheim ä' }))[0]).toContain('Second paragraph');
  });

  test('refuses damaged files', async () => {
    const whole = { docx: file('three.docx'), odt: fixture('letter.odt'), rtf: fixture('letter.rtf') };
    for (const [extension, path] of Object.entries(whole)) {
      const bytes = await readFile(path);
      await writeFile(file(`cut.${extension}`), bytes.subarray(0, bytes.length / 2));
      const type = extension as 'docx' | 'odt' | 'rtf';
      const target = file('cut.pdf');
      const options = { target, pdfa: false, changes: 'accept', scratch: folder } as const;
      const document = { path: file(`cut.${extension}`), filename: `cut.${extension}`, type };
      const conversion = convertToPdf(document, { ...options, signal: new AbortController().signal });
      await expect(conversion, extension).rejects.toMatchObject({ code: 'invalid_input', file: `cut.${extension}` });
    }
  });

  test('loads nothing that a document only links to: neither from the network nor from this machine', async () => {
    const hits: string[] = [];
    const server = createServer((request, response) => {
      hits.push(`${request.method} ${request.url}`);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await sharp({ create: { width: 200, height: 200, channels: 3, background: '#f00' } }).toFile(file('secret.png'));
    const pictures = [
      linkedPicture('r5', `http://127.0.0.1:${port}/x.png`),
      linkedPicture('r6', pathToFileURL(file('secret.png')).href),
    ];
    await writeDocx(file('links.docx'), {
      body: paragraph('links') + pictures.map(({ body }) => body).join(''),
      relationships: pictures.map(({ relationship }) => relationship).join(''),
    });
    try {
      await using result = await runTool(wordToPdf, [file('links.docx')]);
      expect(await readFile(result.outputs[0]!.path, 'latin1')).not.toContain('/Subtype/Image');
      expect(hits).toEqual([]);
    } finally {
      server.close();
    }
  });

  test('stops at an abort, and the next document gets a fresh LibreOffice', async () => {
    const long = Array.from({ length: 20_000 }, (_, line) => paragraph(`Line ${line}`)).join('');
    await writeDocx(file('long.docx'), { body: long });
    const started = performance.now();
    await expect(runTool(wordToPdf, [file('long.docx')], {}, AbortSignal.timeout(150))).rejects.toMatchObject({
      name: 'TimeoutError',
    });
    expect(performance.now() - started).toBeLessThan(3000);
    expect(await convert(file('one.docx'))).toHaveLength(1);
  });

  test('starts LibreOffice again when it has died', async () => {
    await convert(file('one.docx'));
    const pids = await officePids();
    expect(pids).not.toEqual([]);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    expect(await convert(file('one.docx'))).toEqual(['One page, äöü €']);
  });

  test('four hosts convert two documents each at once', async () => {
    const script = `
      import { convertToPdf, stopLibreOffice } from ${JSON.stringify(new URL('../../engines/libreoffice.ts', import.meta.url).href)};
      const [folder, name] = process.argv.slice(1);
      for (const n of [1, 2]) {
        await convertToPdf(
          { path: folder + '/in.docx', filename: name, type: 'docx' },
          { target: folder + '/' + n + '.pdf', pdfa: false, changes: 'accept', scratch: folder, signal: AbortSignal.timeout(60_000) },
        );
      }
      await stopLibreOffice();`;
    const hosts = await Promise.all(
      [1, 2, 3, 4].map(async (host) => {
        const own = await mkdtemp(join(folder, 'host-'));
        await writeDocx(join(own, 'in.docx'), { body: paragraph(`Host ${host}`) });
        await run(process.execPath, ['--input-type=module-typescript', '-e', script, '--', own, 'in.docx']);
        return { host, own };
      }),
    );
    for (const { host, own } of hosts) {
      for (const n of [1, 2]) expect(await pagesOf(join(own, `${n}.pdf`))).toEqual([`Host ${host}`]);
    }
  });

  test('leaves nothing behind', async () => {
    await copyFile(file('one.docx'), file('again.docx'));
    await convert(file('again.docx'));
    // Other tests have instances of their own at the same time.
    const [pid] = await officePids();
    const { stdout } = await run('ps', ['-o', 'args=', '-p', String(pid)]);
    const profile = /millrun-office-\w+/.exec(stdout)![0];
    expect(await readdir(tmpdir())).toContain(profile);
    await stopLibreOffice();
    expect(await officePids()).toEqual([]);
    expect(await readdir(tmpdir())).not.toContain(profile);
  });
});

/** Instances of LibreOffice that this test process started. */
async function officePids(): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args=']);
  const processes = stdout
    .trim()
    .split('\n')
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line)!)
    .map(([, pid, parent, args]) => ({ pid: Number(pid), parent: Number(parent), args: args! }));
  const own = new Set([process.pid]);
  for (const { pid, parent } of processes) if (own.has(parent)) own.add(pid);
  return processes.filter(({ pid, args }) => own.has(pid) && args.includes('soffice.bin')).map(({ pid }) => pid);
}
