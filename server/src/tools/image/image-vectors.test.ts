import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  difference,
  meanDifference,
  pixel,
  quarterColors,
  quarters,
  writeImages,
} from '../../../test/image-fixtures.ts';
import { qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { rsvgConvert } from '../../engines/svg.ts';
import imageVectorizer from './image-vectorizer.ts';
import svgOptimizer from './svg-optimizer.ts';
import svgRasterizer from './svg-rasterizer.ts';

let directory: string;
let files: Awaited<ReturnType<typeof makeFiles>>;

const drawing = `<?xml version="1.0" encoding="ISO-8859-1"?>
<!-- made by hand --><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="240" height="160" viewBox="0 0 240 160">
<metadata>Anna</metadata><rect x="0.00001" width="120.000001" height="80" fill="#dc2828"/><path d="M120.123456 20.987654 C140.1234 40.5678 160.9876 10.3456 200.55555 90.44444 L130.3333 100.22222 Z" fill="#28b43c"/>
<path d="M0.2 0.3h0.4v0.4h-0.4z" transform="scale(200)" fill="#2850dc"/><text x="10" y="75" font-size="20">Größe</text><image width="50" height="50" xlink:href="file:///etc/hostname"/></svg>`;

async function makeFiles() {
  return writeImages(directory, {
    'drawing.svg': Buffer.from(drawing, 'latin1'),
    'wide.svg': Buffer.from(`\ufeff${drawing.replace('ISO-8859-1', 'UTF-16')}`, 'utf16le'),
    'packed.svgz': gzipSync(Buffer.from(drawing, 'latin1')),
    'moving.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><!-- note --><g display="none" id="hidden"><rect width="9" height="9"/></g><rect width="10" height="10"><animate attributeName="x" to="30" dur="1s"/></rect></svg>`,
    'small.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"/></svg>',
    'cut.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="160" vi',
    'broken.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><path d="M0 0h8v8z"></svg>',
    'printed.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="30mm" height="0.5in"><style>.b { width: 36pt }</style><rect width="100%" height="100%" fill="#dc2828"/><rect width="72pt" height="24" fill="#28b43c"/><rect class="b" height="24" y="24" fill="#2850dc"/></svg>`,
    'huge.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="20000" height="20000"><rect width="9" height="9"/></svg>',
    'logo.png': quarters().png().toBuffer(),
  });
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
  files = await makeFiles();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('an optimised drawing is smaller, in UTF-8, and looks the same', async () => {
  for (const name of ['drawing.svg', 'packed.svgz'] as const) {
    for (const precision of name === 'drawing.svg' ? ['0', '3'] : ['8']) {
      await using run = await runTool(svgOptimizer, [files[name]], { precision });
      const [output] = run.outputs;
      expect(output?.type).toBe('svg');
      const text = await readFile(output?.path ?? '', 'utf8');
      expect(text.length).toBeLessThan(drawing.length);
      expect(text).toContain('Größe');
      expect(text).toContain('viewBox');
      expect(text).not.toContain('Anna');
      execFileSync('xmllint', ['--noout', output?.path ?? '']);
      const [before, after] = await Promise.all(
        [files['drawing.svg'], output?.path ?? ''].map((path) =>
          sharp(path).flatten({ background: '#fff' }).png().toBuffer(),
        ),
      );
      expect(await meanDifference(before ?? '', after ?? '')).toBeLessThan(0.5);
    }
  }
});

test('pretty writes lines, keep_viewbox=false drops it, and nothing ever grows', async () => {
  await using pretty = await runTool(svgOptimizer, [files['drawing.svg']], { pretty: 'true', keep_viewbox: 'false' });
  const text = await readFile(pretty.outputs[0]?.path ?? '', 'utf8');
  expect(text.split('\n').length).toBeGreaterThan(5);
  expect(text).not.toContain('viewBox');
  await using small = await runTool(svgOptimizer, [files['small.svg']]);
  expect(small.outputs[0]?.sizeBytes).toBeLessThanOrEqual((await readFile(files['small.svg'])).length);
});

test('what a script or an animation may need stays', async () => {
  await using run = await runTool(svgOptimizer, [files['moving.svg']]);
  const text = await readFile(run.outputs[0]?.path ?? '', 'utf8');
  expect(text).toContain('id="hidden"');
  expect(text).toContain('<animate');
  expect(text).not.toContain('note');
});

test('a broken drawing is a failure with its name', async () => {
  for (const tool of [svgOptimizer, svgRasterizer] as const) {
    for (const file of ['broken.svg', 'cut.svg'] as const) {
      const run = runTool(tool as typeof svgOptimizer, [files[file]]);
      await expect(run).rejects.toMatchObject({ code: 'invalid_input', file });
    }
  }
});

test('a drawing is rasterised at the size that is asked for', async () => {
  const sizes = [
    [{ scale: '2' }, 480, 320],
    [{ width: '60' }, 60, 40],
    [{ width: '300', height: '300' }, 300, 300],
    [{ dpi: '192' }, 480, 320],
    [{ format: 'jpeg', height: '80' }, 120, 80],
    [{ format: 'webp' }, 240, 160],
  ] as const;
  for (const [form, width, height] of sizes) {
    await using run = await runTool(svgRasterizer, [files['packed.svgz']], form as never);
    expect(await sharp(run.outputs[0]?.path).metadata()).toMatchObject({ width, height });
  }
  await using square = await runTool(svgRasterizer, [files['drawing.svg']], {
    width: '300',
    height: '300',
    background: '#ffeecc',
  });
  expect(await pixel(square.outputs[0]?.path ?? '', 5, 5)).toEqual([0xff, 0xee, 0xcc]);
  expect(difference(await pixel(square.outputs[0]?.path ?? '', 100, 70), quarterColors.topLeft)).toBeLessThan(3);
  await using small = await runTool(svgRasterizer, [files['huge.svg']], { width: '100' });
  expect((await sharp(small.outputs[0]?.path).metadata()).width).toBe(100);
  await expect(runTool(svgRasterizer, [files['huge.svg']])).rejects.toMatchObject({ code: 'resource_limit' });
});

test.skipIf((await rsvgConvert.version()) === undefined)('a PDF stays a drawing', async () => {
  for (const name of ['drawing.svg', 'wide.svg', 'packed.svgz'] as const) {
    await using run = await runTool(svgRasterizer, [files[name]], { format: 'pdf', width: '480' });
    const path = run.outputs[0]?.path ?? '';
    qpdfCheck(path);
    expect(execFileSync('pdfinfo', [path], { encoding: 'utf8' })).toMatch(/Page size: +360 x 240 pts/);
    expect(execFileSync('pdftotext', [path, '-'], { encoding: 'utf8' })).toContain('Größe');
    expect(execFileSync('pdfimages', ['-list', path], { encoding: 'utf8' }).trim().split('\n')).toHaveLength(2);
  }
});

test('a traced image shows the same shapes', async () => {
  for (const curve of ['spline', 'polygon']) {
    await using run = await runTool(imageVectorizer, [files['logo.png']], { curve });
    const path = run.outputs[0]?.path ?? '';
    expect(run.outputs[0]?.type).toBe('svg');
    expect(await sharp(path).metadata()).toMatchObject({ width: 240, height: 160 });
    expect(difference(await pixel(path, 50, 40), quarterColors.topLeft)).toBeLessThan(6);
    expect(difference(await pixel(path, 190, 120), quarterColors.bottomRight)).toBeLessThan(6);
  }
  await using outline = await runTool(imageVectorizer, [files['logo.png']], { color_mode: 'bw' });
  const colors = (await readFile(outline.outputs[0]?.path ?? '', 'utf8')).match(/fill="[^"]+"/g);
  expect(new Set(colors)).toEqual(new Set(['fill="#000000"']));
});

test('lengths in millimetres, points and inches are those of CSS, beside others in pixels', async () => {
  await using run = await runTool(svgRasterizer, [files['printed.svg']]);
  const path = run.outputs[0]!.path;
  expect(await sharp(path).metadata()).toMatchObject({ width: 113, height: 48 });
  const [red, green, blue] = [
    [220, 40, 40],
    [40, 180, 60],
    [40, 80, 220],
  ];
  for (const [x, y, color] of [
    [94, 10, green],
    [98, 10, red],
    [46, 40, blue],
    [50, 40, red],
  ] as const)
    expect(await pixel(path, x, y)).toEqual(color);
  await using fine = await runTool(svgRasterizer, [files['printed.svg']], { dpi: '300' });
  expect(await sharp(fine.outputs[0]!.path).metadata()).toMatchObject({ height: 150, density: 300 });
});
