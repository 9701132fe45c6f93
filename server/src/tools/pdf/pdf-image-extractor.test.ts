import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { quarters } from '../../../test/image-fixtures.ts';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-image-extractor.ts';

describe('pdf-image-extractor', { timeout: 60_000 }, () => {
  test('JPEG as stored, others as PNG, soft masks as transparency', async () => {
    await using run = await runTool(tool, [pdfFixture('images')]);
    const found = await Promise.all(run.outputs.map(({ path }) => sharp(path).metadata()));
    expect(found.map(({ format, width, height, hasAlpha }) => [format, width, height, hasAlpha])).toEqual([
      ['jpeg', 800, 600, false],
      ['png', 400, 400, true],
      ['png', 600, 300, false],
    ]);
    const stored = await readFile(run.outputs[0]?.path ?? '');
    expect((await readFile(pdfFixture('images'))).includes(stored)).toBe(true);
    expect(run.outputs.map(({ filename }) => filename)).toEqual(['images-001.jpg', 'images-002.png', 'images-003.png']);
    const { channels } = await sharp(run.outputs[1]?.path).stats();
    expect(channels[3]?.min).toBe(0);
    expect(channels[3]?.max).toBeGreaterThan(250);
  });

  test('each picture once, and only those that are large enough', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const image = await document.embedPng(await quarters(60, 40).png().toBuffer());
      for (let page = 0; page < 3; page++) document.addPage([200, 200]).drawImage(image, { x: page, y: 9 });
      const path = join(directory, 'repeated.pdf');
      await writeFile(path, await document.save());
      await using run = await runTool(tool, [path]);
      expect(run.outputs).toHaveLength(1);
      const pixel = await sharp(run.outputs[0]?.path)
        .extract({ left: 5, top: 5, width: 1, height: 1 })
        .raw()
        .toBuffer();
      expect([...pixel]).toEqual([220, 40, 40]);
      await expect(runTool(tool, [path], { min_width: '61' })).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('1 smaller') as string,
      });
    }));

  test('a CMYK JPEG, whose colours few programs read alike, comes as the page shows it', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const jpeg = await quarters(64, 64).toColourspace('cmyk').jpeg({ quality: 95 }).toBuffer();
      const image = await document.embedJpg(jpeg);
      document.addPage([100, 100]).drawImage(image, { x: 0, y: 0, width: 100, height: 100 });
      const path = join(directory, 'cmyk.pdf');
      await writeFile(path, await document.save());
      await using run = await runTool(tool, [path]);
      const shown = await sharp(run.outputs[0]?.path)
        .toColourspace('srgb')
        .removeAlpha()
        .extract({ left: 8, top: 8, width: 1, height: 1 })
        .raw()
        .toBuffer();
      const [r = 0, g = 0, b = 0] = shown;
      expect(r).toBeGreaterThan(g + 60);
      expect(r).toBeGreaterThan(b + 60);
    }));

  test('refuses what has no pictures or needs a password', async () => {
    await expect(runTool(tool, [pdfFixture('three-pages')])).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(runTool(tool, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
    await expect(runTool(tool, [pdfFixture('images')], { pages: '9' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
  });
});
