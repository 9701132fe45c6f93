import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { type PDFDict, PDFDocument, PDFName, PDFRawStream } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { pdfFixture, popplerText, qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import { findTool } from '../../tools/registry.ts';
import type { Tool } from '../../tools/define.ts';
import { isDamagedFlate, readableFlate } from './flate-damage.ts';

const lines = Array.from(
  { length: 40 },
  (_, line) => `BT /F 12 Tf 72 ${780 - line * 18} Td (Line ${line} ${line ** 5}) Tj ET`,
);
const packed = deflateSync(lines.join('\n'));
const middle = packed.length >> 1;

const damages: Record<string, Buffer> = {
  'bytes in the middle changed': Buffer.concat([
    packed.subarray(0, middle),
    Buffer.alloc(8, 0xff),
    packed.subarray(middle + 8),
  ]),
  'one bit changed': Buffer.from(packed.map((byte, at) => (at === middle ? byte ^ 4 : byte))),
  'the end lost': packed.subarray(0, middle),
  'the beginning lost': Buffer.concat([Buffer.alloc(4), packed.subarray(4)]),
};
const harmless: Record<string, Buffer> = {
  'no check sum': packed.subarray(0, -4),
  'a made-up check sum': Buffer.concat([packed.subarray(0, -4), Buffer.alloc(4)]),
  'a line end after the data': Buffer.concat([packed, Buffer.from('\r\n')]),
};

/** Three pages; the second has this content. */
async function threePages(content: Buffer, directory: string): Promise<string> {
  const document = await PDFDocument.create();
  const { context } = document;
  const font = context.register(context.obj({ Type: 'Font', Subtype: 'Type1', BaseFont: 'Helvetica' }));
  for (const data of [packed, content, packed]) {
    const page = document.addPage([595, 842]);
    const dict = context.obj({ Filter: 'FlateDecode' }) as PDFDict;
    page.node.set(PDFName.of('Contents'), context.register(PDFRawStream.of(dict, data)));
    page.node.set(PDFName.of('Resources'), context.obj({ Font: { F: font } }));
  }
  const path = join(directory, 'three.pdf');
  await writeFile(path, await document.save({ useObjectStreams: false }));
  return path;
}

function tool(slug: string): Tool {
  const found = findTool(slug);
  if (found === undefined) throw new Error(slug);
  return found;
}

const damagedPage = {
  code: 'invalid_input',
  message: 'Page 2 of three.pdf is damaged: its content cannot be read to the end.',
};
const converters = [
  'pdf-text-extractor',
  'pdf-to-word-converter',
  'pdf-to-markdown-converter',
  'pdf-to-html-converter',
  'pdf-to-excel-converter',
  'pdf-to-image-converter',
  'pdf-ocr-processor',
  'pdf-compressor',
  'pdf-nup-maker',
  'pdf-grayscaler',
  'pdfa-converter',
];

describe('a page whose content is damaged', { timeout: 60_000 }, () => {
  test.each(converters)('%s refuses it by its number', (slug) =>
    withTemporaryDirectory(async (directory) => {
      const path = await threePages(damages['the end lost'] ?? packed, directory);
      await expect(runTool(tool(slug), [path])).rejects.toMatchObject(damagedPage);
    }),
  );

  test.each(Object.keys(damages))('%s', (name) =>
    withTemporaryDirectory(async (directory) => {
      const data = damages[name] ?? packed;
      expect(isDamagedFlate(data)).toBe(true);
      const path = await threePages(data, directory);
      await expect(runTool(tool('pdf-text-extractor'), [path])).rejects.toMatchObject(damagedPage);
      await using run = await runTool(tool('pdf-text-extractor'), [path], { pages: '1,3' });
      expect(await readFile(run.outputs[0]?.path ?? '', 'utf8')).toContain(`Line 39 ${39 ** 5}`);
    }),
  );

  test.each(Object.keys(harmless))('%s is no damage', (name) =>
    withTemporaryDirectory(async (directory) => {
      const path = await threePages(harmless[name] ?? packed, directory);
      for (const slug of ['pdf-text-extractor', 'pdf-nup-maker']) {
        await using run = await runTool(tool(slug), [path]);
        const [output] = run.outputs;
        const text =
          slug === 'pdf-nup-maker'
            ? popplerText(output?.path ?? '').join()
            : await readFile(output?.path ?? '', 'utf8');
        expect(text.match(/Line 39/g)).toHaveLength(3);
      }
    }),
  );

  test('a page with nothing in it, coded or not, is not damaged', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await threePages(Buffer.alloc(0), directory);
      await using run = await runTool(tool('pdf-text-extractor'), [path]);
      const text = await readFile(run.outputs[0]?.path ?? '', 'utf8');
      expect(text.match(/Line 39/g)).toHaveLength(2);
    }));

  test('in an encrypted file too, where the page would be empty', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await threePages(damages['the beginning lost'] ?? packed, directory);
      const plain = join(directory, 'plain.pdf');
      await writeFile(plain, await readFile(path));
      execFileSync('qpdf', ['--warning-exit-0', '--encrypt', '', 'owner', '256', '--', plain, path], { stdio: 'pipe' });
      await expect(runTool(tool('pdf-text-extractor'), [path])).rejects.toMatchObject(damagedPage);
    }));

  test('a part that a page draws with, such as a form', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'three.pdf');
      const document = await PDFDocument.load(await readFile(pdfFixture('three-pages')));
      const { context } = document;
      const dict = context.obj({
        Type: 'XObject',
        Subtype: 'Form',
        BBox: [0, 0, 9, 9],
        Filter: 'FlateDecode',
      }) as PDFDict;
      const form = context.register(PDFRawStream.of(dict, damages['the end lost'] ?? packed));
      document.getPage(1).node.setXObject(PDFName.of('Broken'), form);
      await writeFile(path, await document.save());
      await expect(runTool(tool('pdf-to-image-converter'), [path])).rejects.toMatchObject(damagedPage);
    }));

  test('the repairer keeps what can be read of it', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await threePages(damages['the end lost'] ?? packed, directory);
      await using run = await runTool(tool('pdf-repairer'), [path]);
      const repaired = run.outputs[0]?.path ?? '';
      expect(qpdfCheck(repaired)).toContain('No syntax or stream encoding errors');
      const [first, second, third] = popplerText(repaired);
      expect(second).toContain('Line 3 ');
      expect(second).not.toContain('Line 39');
      expect(first).toBe(third);
      await using text = await runTool(tool('pdf-text-extractor'), [repaired]);
      expect(text.outputs).toHaveLength(1);
    }));
});

test('what can be read of damaged data is its beginning', () => {
  for (const data of Object.values(damages).slice(0, 3)) {
    const readable = Buffer.from(readableFlate(data)).toString();
    expect(readable.length).toBeGreaterThan(200);
    expect(readable.slice(0, 200)).toBe(lines.join('\n').slice(0, 200));
  }
});
