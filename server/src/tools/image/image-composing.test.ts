import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { difference, pixel, quarterColors, quarters, writeImages } from '../../../test/image-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import faviconGenerator from './favicon-generator.ts';
import imageCollager from './image-collager.ts';
import spriteSheetMaker from './sprite-sheet-maker.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

async function makeFiles() {
  return writeImages(directory, {
    'photo.jpg': quarters().withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer(),
    'home.png': quarters(24, 16).png().toBuffer(),
    'back arrow.png': quarters(16, 24).png().toBuffer(),
    'one.png': quarters(2, 2).resize(1, 1).png().toBuffer(),
    'logo.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="9000" height="9000"><circle cx="4500" cy="4500" r="4000" fill="#dc2828"/></svg>',
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('a collage shows whole images upright in rows', async () => {
  const form = { cell_width: '120', gap: '10', background: '#102030', format: 'png' };
  await using run = await runTool(imageCollager, [files['home.png'], files['photo.jpg'], files['one.png']], form);
  const [output] = run.outputs;
  expect(output).toMatchObject({ filename: 'collage.png', type: 'png' });
  // The upright photo is 120 x 180, the wide icon 120 x 80 in the middle of its row, the dot 120 x 120.
  expect(await sharp(output?.path).metadata()).toMatchObject({ width: 270, height: 10 + 180 + 10 + 120 + 10 });
  const path = output?.path ?? '';
  expect(await pixel(path, 5, 5)).toEqual([0x10, 0x20, 0x30]);
  expect(await pixel(path, 30, 30)).toEqual([0x10, 0x20, 0x30]);
  expect(difference(await pixel(path, 20, 70), quarterColors.topLeft)).toBeLessThan(3);
  expect(difference(await pixel(path, 250, 20), quarterColors.topLeft)).toBeLessThan(8);
  await using cut = await runTool(imageCollager, [files['home.png'], files['photo.jpg']], {
    cell_width: '100',
    cell_height: '50',
    gap: '0',
    columns: '1',
  });
  expect(await sharp(cut.outputs[0]?.path).metadata()).toMatchObject({ format: 'jpeg', width: 100, height: 100 });
  const huge = { columns: '12', cell_width: '4096', cell_height: '4096', format: 'png' };
  const many = Array.from({ length: 7 }, () => files['one.png']);
  await expect(runTool(imageCollager, many, huge)).rejects.toThrow(/100 million/);
});

test('a sprite sheet and where its images are', async () => {
  const inputs = [files['home.png'], files['back arrow.png'], files['home.png']];
  await using run = await runTool(spriteSheetMaker, inputs, { columns: '2', padding: '3' });
  expect(run.outputs.map(({ filename }) => filename)).toEqual(['sprites.png', 'sprites.css', 'sprites.json']);
  const [sheet, css, json] = run.outputs;
  expect(await sharp(sheet?.path).metadata()).toMatchObject({ width: 57, height: 57, hasAlpha: true });
  const { frames } = JSON.parse(await readFile(json?.path ?? '', 'utf8')) as {
    frames: Record<string, { frame: { x: number; y: number; w: number; h: number } }>;
  };
  expect(Object.keys(frames)).toEqual(['home', 'back-arrow', 'home-1']);
  for (const { frame } of Object.values(frames)) {
    const shown = await pixel(sheet?.path ?? '', frame.x + 1, frame.y + 1);
    expect(shown).toEqual([...quarterColors.topLeft]);
    expect(await pixel(sheet?.path ?? '', frame.x + frame.w - 1, frame.y + frame.h - 1)).toEqual([
      ...quarterColors.bottomRight,
    ]);
  }
  const rules = await readFile(css?.path ?? '', 'utf8');
  expect(rules).toContain('.sprite-back-arrow {\n  width: 16px;\n  height: 24px;\n  background-position: -30px -3px;');
});

test('a favicon set from a photo and from a huge drawing', async () => {
  await using run = await runTool(faviconGenerator, [files['photo.jpg'], files['logo.svg']], { radius: '50' });
  for (const { path, type, filename } of run.outputs) {
    expect(type).toBe('zip');
    const set = join(directory, filename);
    execFileSync('unzip', ['-q', path, '-d', set]);
    const icon = await readFile(join(set, 'favicon.ico'));
    expect(Array.from({ length: icon.readUInt16LE(4) }, (_, index) => icon[6 + index * 16])).toEqual([16, 32, 48]);
    for (const edge of [16, 32, 48, 96, 192, 512]) {
      const picture = sharp(join(set, `favicon-${edge}x${edge}.png`));
      expect(await picture.metadata()).toMatchObject({ width: edge, height: edge });
      expect((await picture.stats()).isOpaque).toBe(false);
    }
    const touch = sharp(join(set, 'apple-touch-icon.png'));
    expect(await touch.metadata()).toMatchObject({ width: 180, height: 180 });
    expect((await touch.stats()).isOpaque).toBe(true);
    const manifest = JSON.parse(await readFile(join(set, 'site.webmanifest'), 'utf8')) as { icons: { src: string }[] };
    for (const { src } of manifest.icons) await readFile(join(set, src));
    expect(await readFile(join(set, 'head.html.txt'), 'utf8')).toContain('<link rel="manifest"');
  }
});
