import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './image-text-extractor.ts';

function drawing(lines: string[], { size = 40, width = 1000 } = {}): Buffer {
  const rows = lines.map(
    (line, row) => `<text x="${size}" y="${(row + 1) * size * 2}" font-size="${size}">${line}</text>`,
  );
  const height = size * 2 * (lines.length + 1);
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="Liberation Sans">
      <rect width="100%" height="100%" fill="white"/>${rows.join('')}</svg>`,
  );
}

interface Page {
  width: number;
  height: number;
  words: { text: string; left: number; top: number; width: number; height: number; confidence: number }[];
}

async function extract(path: string, form: Record<string, string> = {}): Promise<string> {
  await using run = await runTool(tool, [path], form);
  return readFile(run.outputs[0]?.path ?? '', 'utf8');
}

async function firstPage(path: string): Promise<Page | undefined> {
  return (JSON.parse(await extract(path, { format: 'json' })) as { pages: Page[] }).pages[0];
}

describe('image-text-extractor', { timeout: 60_000 }, () => {
  test('reads text, also small and transparent, without a word lost', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'small.png');
      const small = drawing(['Invoice 4711', 'Total 12.50'], { size: 12, width: 200 })
        .toString()
        .replace(/<rect[^>]*>/, '');
      await sharp(Buffer.from(small)).png().toFile(path);
      expect((await extract(path)).split(/\n+/).slice(0, 2)).toEqual(['Invoice 4711', 'Total 12.50']);
    }));

  test('words stand where they are in the original, for a picture turned by its orientation too', () =>
    withTemporaryDirectory(async (directory) => {
      const upright = await sharp(drawing(['Corner'], { size: 60, width: 500 }))
        .png()
        .toBuffer();
      const paths = [join(directory, 'upright.png'), join(directory, 'turned.jpg')] as const;
      await writeFile(paths[0], upright);
      await sharp(upright).rotate(-90).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toFile(paths[1]);
      for (const path of paths) {
        const page = await firstPage(path);
        expect(page).toMatchObject({ width: 500, height: 240, words: [{ text: 'Corner' }] });
        const word = page?.words[0];
        expect(Math.abs((word?.left ?? 0) - 64)).toBeLessThan(5);
        expect(Math.abs((word?.top ?? 0) + (word?.height ?? 0) - 121)).toBeLessThan(5);
        expect(word?.confidence).toBeGreaterThan(80);
      }
    }));

  test.each([90, 180, 270])(
    'a page that was scanned turned by %i degrees is read, its words where they stand',
    (angle) =>
      withTemporaryDirectory(async (directory) => {
        const lines = [
          'The quick brown fox jumps over the lazy dog',
          'while nine wizards quietly judge my vow and',
          'every good boy deserves fudge on Sunday, so',
          'pack my box with five dozen liquor jugs now',
        ];
        const path = join(directory, 'turned.png');
        await sharp(drawing(lines)).rotate(angle).png().toFile(path);
        expect((await extract(path)).split(/\n+/).slice(0, 4)).toEqual(lines);
        const page = await firstPage(path);
        const { left = 0, top = 0 } = page?.words[0] ?? {};
        const { width = 0, height = 0 } = page ?? {};
        expect(angle === 90 ? left > width / 2 : top > height / 2).toBe(true);
      }),
  );

  test('every page of a TIFF is read; hOCR is well-formed and names the file, not a path', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'two.tiff');
      const parts = ['First', 'Second'].map((word) => {
        const part = join(directory, `${word}.png`);
        execFileSync('rsvg-convert', ['-o', part], { input: drawing([`${word} page`]) });
        return part;
      });
      const pages = await Promise.all(parts.map((part) => sharp(part).removeAlpha().toBuffer()));
      await sharp(pages, { join: { animated: true } })
        .tiff()
        .toFile(path);
      expect(await extract(path)).toBe('First page\n\fSecond page\n');
      const hocr = await extract(path, { format: 'hocr' });
      const out = join(directory, 'out.hocr');
      await writeFile(out, hocr.replace(/<!DOCTYPE[^>]*>/, ''));
      execFileSync('xmllint', ['--noout', out]);
      expect(hocr.match(/ocr_page/g)).toHaveLength(3); // One is in the list of capabilities.
      expect(hocr).toContain('image "two.tiff"');
      expect(hocr).not.toContain('/tmp');
    }));

  test('two languages at once', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'german.png');
      await sharp(drawing(['Größe und Übung']))
        .png()
        .toFile(path);
      expect(await extract(path, { language: 'eng+deu' })).toBe('Größe und Übung\n');
    }));

  test('an unknown language names what there is and what mends it', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'a.png');
      await sharp(drawing(['A']))
        .png()
        .toFile(path);
      await expect(extract(path, { language: 'eng+xyz' })).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(/"xyz" is not installed.*eng.*tesseract-ocr-xyz/) as string,
      });
      await expect(extract(path, { language: '../eng' })).rejects.toThrow('must name languages');
    }));

  test('a picture without text fails, also with orientation only; what Tesseract cannot do is refused before', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'blank.png');
      await sharp({ create: { width: 1, height: 1, channels: 3, background: '#fff' } })
        .png()
        .toFile(path);
      for (const form of [{}, { format: 'json' }, { psm: '0' }, { psm: '8', enhance: 'false' }]) {
        await expect(extract(path, form)).rejects.toMatchObject({ code: 'invalid_input', file: 'blank.png' });
      }
      await expect(extract(path, { psm: '2' })).rejects.toThrow('not implemented');
      await expect(extract(path, { psm: '0', format: 'hocr' })).rejects.toThrow('format txt');
    }));
});
