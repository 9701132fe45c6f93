import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import PptxGenJS from 'pptxgenjs';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { convertOffice, libreofficeImpress, stopLibreOffice } from '../../engines/libreoffice.ts';
import powerpointToPdf from './powerpoint-to-pdf-converter.ts';
import presentationToImage from './presentation-to-image-converter.ts';

const version = await libreofficeImpress.version();
if (version === undefined) {
  console.warn(`SKIPPED: presentations, because LibreOffice Impress is missing: ${libreofficeImpress.install}`);
}

const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

/** The words of each page. */
async function print(path: string, form: Record<string, string> = {}): Promise<string[]> {
  await using result = await runTool(powerpointToPdf, [path], form);
  const { stdout } = await run('pdftotext', ['-layout', result.outputs[0]!.path, '-']);
  return stdout
    .split('\f')
    .slice(0, -1)
    .map((page) => page.trim().replaceAll(/\s+/g, ' '));
}

describe.skipIf(version === undefined)('presentations', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-slides-'));
    // The package is CommonJS; its types say otherwise.
    const show = new (PptxGenJS as unknown as typeof PptxGenJS.default)();
    for (const number of [1, 2, 3, 4, 5]) {
      const slide = show.addSlide();
      slide.background = { color: ['FF0000', '00FF00', '0000FF', 'FFFF00', 'FF00FF'][number - 1]! };
      slide.addText(`Slide ${number}`, { x: 1, y: 1, w: 8, h: 1 });
      slide.addNotes(`Note ${number}`);
      slide.hidden = number === 2;
    }
    await show.writeFile({ fileName: file('show.pptx') });
    const document = { path: file('show.pptx'), filename: 'show.pptx', type: 'pptx' } as const;
    const signal = AbortSignal.timeout(60_000);
    for (const format of ['ppt', 'odp'] as const) {
      await convertOffice(document, { format, target: file(`show.${format}`), scratch: folder, signal });
    }
  });

  afterAll(async () => {
    await stopLibreOffice();
    await rm(folder, { recursive: true, force: true });
  });

  test('a PPT with a password is not called damaged', async () => {
    const bytes = await readFile(file('show.ppt'));
    const plain = bytes.indexOf(Buffer.from([0x14, 0, 0, 0, 0x5f, 0xc0, 0x91, 0xe3]));
    expect(plain).toBeGreaterThan(0);
    bytes.writeUInt32LE(0xf3d1c4df, plain + 4);
    // What is encrypted cannot be read.
    const start = bytes.indexOf(Buffer.from([0x0f, 0x00, 0xe8, 0x03]));
    bytes.fill(0xa5, start, start + 4096);
    await writeFile(file('locked.ppt'), bytes);
    await expect(print(file('locked.ppt'))).rejects.toMatchObject({ code: 'password_required' });
  });

  test.each(['pptx', 'ppt', 'odp'])('writes the slides of a %s that are not hidden', async (type) => {
    expect(await print(file(`show.${type}`))).toEqual(['Slide 1', 'Slide 3', 'Slide 4', 'Slide 5']);
  });

  test('writes the slides that were asked for, in their order, a hidden one too', async () => {
    expect(await print(file('show.pptx'), { slides: '5,1-2' })).toEqual(['Slide 5', 'Slide 1', 'Slide 2']);
    await expect(print(file('show.pptx'), { slides: '6' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('writes notes pages', async () => {
    const pages = await print(file('show.pptx'), { notes: 'true', slides: '3,1' });
    expect(pages).toHaveLength(2);
    expect(pages[0]).toMatch(/Slide 3.*Note 3/);
  });

  test('writes handouts whose slides can be seen', async () => {
    expect(await print(file('show.pptx'), { handout: '6' })).toEqual(['Slide 1 Slide 3 Slide 4 Slide 5']);
    expect(await print(file('show.pptx'), { handout: '2' })).toHaveLength(2);
    await using result = await runTool(powerpointToPdf, [file('show.pptx')], { handout: '2' });
    await run('pdftoppm', [
      '-r',
      '20',
      '-png',
      '-f',
      '1',
      '-l',
      '1',
      '-singlefile',
      result.outputs[0]!.path,
      file('page'),
    ]);
    const { data, info } = await sharp(file('page.png')).raw().toBuffer({ resolveWithObject: true });
    const at = (Math.round(info.height * 0.3) * info.width + Math.round(info.width / 2)) * info.channels;
    expect([...data.subarray(at, at + 3)]).toEqual([255, 0, 0]);
  });

  test('writes an image of each slide', async () => {
    await using result = await runTool(presentationToImage, [file('show.odp')], { dpi: '36', format: 'jpeg' });
    expect(result.outputs.map(({ filename }) => filename)).toEqual([1, 3, 4, 5].map((n) => `show-${n}.jpg`));
    const { dominant } = await sharp(result.outputs[1]!.path).stats();
    expect(dominant.b).toBeGreaterThan(dominant.r + 100);
    expect(await sharp(result.outputs[0]!.path).metadata()).toMatchObject({ width: 360, format: 'jpeg' });
  });

  test('refuses damaged files', async () => {
    for (const type of ['pptx', 'ppt', 'odp']) {
      const bytes = await readFile(file(`show.${type}`));
      await writeFile(file(`cut.${type}`), bytes.subarray(0, bytes.length * 0.6));
      await using _ = { [Symbol.asyncDispose]: () => rm(file(`cut.${type}`)) };
      const document = { path: file(`cut.${type}`), filename: 'cut', type: type as 'ppt' };
      const options = { format: 'pdf', target: file('cut.pdf'), scratch: folder } as const;
      const conversion = convertOffice(document, { ...options, signal: AbortSignal.timeout(60_000) });
      await expect(conversion, type).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});
