import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import fontConverter from './font-converter.ts';
import fontInspector from './font-inspector.ts';
import fontSubsetter from './font-subsetter.ts';
import webfontGenerator from './webfont-generator.ts';

const dejavu = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
const samples = join(import.meta.dirname, '../../../test/fixtures/samples');

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** What FreeType, which shares no code with our libraries, sees in a font. */
function scan(path: string): { family: string; format: string; characters: number } {
  const line = execFileSync('fc-scan', ['-f', '%{family[0]}|%{fontformat}|%{charset}\n', path], { encoding: 'utf8' });
  const [family = '', format = '', charset = ''] = line.split('\n')[0]!.split('|');
  const sizes = charset.split(' ').map((range) => {
    const [first = '', last = first] = range.split('-');
    return Number.parseInt(last, 16) - Number.parseInt(first, 16) + 1;
  });
  return { family, format, characters: sizes.reduce((sum, size) => sum + size, 0) };
}

/** A font with one more table, of bytes that nothing reads. */
function withTable(font: Buffer, tag: string): Buffer {
  const count = font.readUInt16BE(4);
  const directory = Buffer.from(font.subarray(0, 12 + count * 16));
  directory.writeUInt16BE(count + 1, 4);
  for (let at = 12; at < directory.length; at += 16)
    directory.writeUInt32BE(directory.readUInt32BE(at + 8) + 16, at + 8);
  const entry = Buffer.alloc(16);
  entry.write(tag, 'latin1');
  entry.writeUInt32BE(font.length + 16, 8);
  entry.writeUInt32BE(4, 12);
  return Buffer.concat([directory, entry, font.subarray(directory.length), Buffer.alloc(4)]);
}

describe('font-converter', () => {
  test.each([
    ['COLR', 'colours'],
    ['CBDT', 'pictures'],
  ])('refuses to draw a font with %s anew, and wraps it', async (tag, loss) => {
    const path = join(directory, `${tag}.ttf`);
    await writeFile(path, withTable(await readFile(join(samples, 'ttf.ttf')), tag));
    await expect(runTool(fontConverter, [path], { format: 'otf' })).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(loss) as string,
    });
    await using run = await runTool(fontConverter, [path], { format: 'ttf' });
    expect(run.outputs).toHaveLength(1);
  });

  test.each(['woff2', 'woff', 'otf'])('writes %s with every character', async (format) => {
    const source = join(samples, 'ttf.ttf');
    await using run = await runTool(fontConverter, [source], { format });
    const { family, characters } = scan(run.outputs[0]!.path);
    expect({ family, characters }).toEqual({ family: scan(source).family, characters: scan(source).characters });
  });

  test.each(['otf.otf', 'woff.woff', 'woff2.woff2', 'eot.eot'])('reads %s', async (name) => {
    await using run = await runTool(fontConverter, [join(samples, name)], { format: 'ttf' });
    expect(scan(run.outputs[0]!.path)).toMatchObject({ format: 'TrueType' });
    expect(run.outputs[0]?.type).toBe('ttf');
  });

  test('reads a font in SVG', async () => {
    const path = join(directory, 'font.svg');
    await writeFile(
      path,
      '<svg xmlns="http://www.w3.org/2000/svg"><defs><font id="T" horiz-adv-x="600"><font-face font-family="Test" units-per-em="1000" ascent="800" descent="-200"/><glyph unicode="A" horiz-adv-x="600" d="M0 0L300 700L600 0Z"/></font></defs></svg>',
    );
    await using run = await runTool(fontConverter, [path]);
    expect(scan(run.outputs[0]!.path)).toMatchObject({ family: 'Test', characters: 1 });
  });

  test.each([
    ['a drawing', 'drawing.svg', '<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'],
    ['half a font', 'half.ttf', undefined],
  ])('refuses %s', async (_what, name, content) => {
    const path = join(directory, name);
    const bytes = await readFile(dejavu);
    await writeFile(path, content ?? bytes.subarray(0, bytes.length / 2));
    await expect(runTool(fontConverter, [path])).rejects.toMatchObject({ code: 'invalid_input', file: name });
  });
});

describe('font-subsetter', () => {
  test('keeps what a text needs', async () => {
    await using run = await runTool(fontSubsetter, [dejavu], { text: 'Ærøskøbing', unicodes: 'digits' });
    const [output] = run.outputs;
    expect(output).toMatchObject({ filename: 'DejaVuSans.woff2', type: 'woff2' });
    expect(output?.sizeBytes).toBeLessThan(10_000);
    expect(scan(output!.path).characters).toBe(new Set('Ærøskøbing0123456789').size);
  });

  test('gives the kind it was, smaller without hints', async () => {
    await using hinted = await runTool(fontSubsetter, [dejavu], { format: 'same' });
    await using bare = await runTool(fontSubsetter, [dejavu], {
      format: 'same',
      keep_hinting: 'false',
      features: 'kern',
    });
    expect(hinted.outputs[0]).toMatchObject({ filename: 'DejaVuSans.ttf', type: 'ttf' });
    expect(bare.outputs[0]!.sizeBytes).toBeLessThan(hinted.outputs[0]!.sizeBytes);
  });

  test('refuses ranges that there are not, and fonts without the characters', async () => {
    await expect(runTool(fontSubsetter, [dejavu], { unicodes: 'klingon' })).rejects.toThrow('unicodes');
    const none = runTool(fontSubsetter, [dejavu], { text: '日本', unicodes: 'none' });
    await expect(none).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

test('webfont-generator packs fonts, style sheet and a page', async () => {
  await using run = await runTool(webfontGenerator, [dejavu], { css_name: 'My Font' });
  const archive = run.outputs[0]!.path;
  const names = execFileSync('unzip', ['-Z1', archive], { encoding: 'utf8' }).trim().split('\n');
  expect(names.toSorted()).toEqual(['My-Font.css', 'My-Font.woff', 'My-Font.woff2', 'index.html']);
  execFileSync('unzip', ['-q', archive, '-d', directory]);
  expect(await readFile(join(directory, 'My-Font.css'), 'utf8')).toContain('font-family: "My Font"');
  expect(scan(join(directory, 'My-Font.woff2'))).toMatchObject({ family: 'DejaVu Sans' });
});

test('font-inspector does not count the mark at the end of a list of characters', async () => {
  const source = join(samples, 'ttf.ttf');
  await using run = await runTool(fontInspector, [source]);
  const facts = JSON.parse(await readFile(run.outputs[0]!.path, 'utf8')) as { characters: number; ranges: string[] };
  expect(facts.characters).toBe(scan(source).characters);
  expect(facts.ranges.at(-1)).not.toContain('FFFF');
});

test('font-inspector describes a font and shows it', async () => {
  await using run = await runTool(fontInspector, [dejavu], { sample: 'Hamburgefonts' });
  const [report, picture] = run.outputs;
  const facts = JSON.parse(await readFile(report!.path, 'utf8')) as Record<string, unknown>;
  expect(facts).toMatchObject({ family: 'DejaVu Sans', style: 'Book', characters: scan(dejavu).characters });
  const deviation = execFileSync('convert', [picture!.path, '-format', '%w %[fx:standard_deviation]', 'info:'], {
    encoding: 'utf8',
  });
  const [width = 0, spread = 0] = deviation.split(' ').map(Number);
  expect(width).toBeGreaterThan(500);
  expect(spread).toBeGreaterThan(0.1);
});
