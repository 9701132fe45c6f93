import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { utils, write } from '@e965/xlsx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import type { Tool } from '../define.ts';
import chartMaker from './chart-maker.ts';
import csvProfiler from './csv-profiler.ts';

const execute = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-reports-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(tool: unknown, content: string | Buffer, form: Record<string, string> = {}, name = 'table.csv') {
  const path = join(folder, name);
  await writeFile(path, content);
  await using result = await runTool(tool as Tool, [path], form);
  return await Promise.all(result.outputs.map(async (output) => ({ ...output, bytes: await readFile(output.path) })));
}

describe('csv-profiler', () => {
  const csv = 'zip,n,t\n00123,1,a\n00123,2.5,\n4,-1,"<script>alert(1)</script>"\n5,,a\n';

  test('types, empty cells, ranges, averages and frequent values', async () => {
    const [json] = await run(csvProfiler, csv, { format: 'json' });
    expect(JSON.parse(String(json!.bytes))).toEqual({
      file: 'table.csv',
      rows: 4,
      columns: [
        expect.objectContaining({
          name: 'zip',
          type: 'VARCHAR',
          nulls: 0,
          distinct: 3,
          longest: 5,
          top: expect.arrayContaining([{ value: '00123', count: 2 }]) as unknown,
        }),
        expect.objectContaining({
          name: 'n',
          type: 'DOUBLE',
          nulls: 1,
          distinct: 3,
          min: '-1.0',
          max: '2.5',
          mean: 0.833333333333333,
          quartiles: [0, 1, 1.75],
        }),
        expect.objectContaining({ name: 't', nulls: 1, distinct: 2, shortest: 1 }),
      ],
    });
  });

  test('a page without scripts', async () => {
    const [page] = await run(csvProfiler, csv, { format: 'html' });
    expect(page!.type).toBe('html');
    expect(String(page!.bytes)).not.toContain('<script');
    expect(String(page!.bytes)).toContain('&lt;script&gt;');
    const path = join(folder, 'page.html');
    await writeFile(path, page!.bytes);
    const { stderr } = await execute('xmllint', ['--nonet', '--html', '--noout', path]).catch(
      (error: unknown) => error as { stderr: string },
    );
    expect(stderr).toBe('');
  });

  test('a sample, both formats, and a workbook', async () => {
    const rows = Array.from({ length: 5000 }, (_, n) => `${n}`);
    const outputs = await run(csvProfiler, `a,b\n${rows.map((n) => `${n},x`).join('\n')}\n`, { sample: '100' });
    expect(outputs.map(({ filename }) => filename)).toEqual(['table-profile.json', 'table-profile.html']);
    expect(JSON.parse(String(outputs[0]!.bytes))).toMatchObject({
      rows: 5000,
      sampled: 100,
      columns: [{ distinct: 100 }, { distinct: 1 }],
    });
    const book = utils.book_new();
    utils.book_append_sheet(book, utils.aoa_to_sheet([['k'], [1], [1e300], [-1e300]]), 'S');
    const [json] = await run(csvProfiler, write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer, {}, 'b.xlsx');
    expect(JSON.parse(String(json!.bytes))).toMatchObject({
      rows: 3,
      columns: [{ name: 'k', type: 'DOUBLE', min: '-1e+300' }],
    });
  });

  test('an empty table and one without rows', async () => {
    await expect(run(csvProfiler, '\n')).rejects.toMatchObject({ code: 'invalid_input' });
    const [json] = await run(csvProfiler, 'a,b\n', { format: 'json' });
    expect(JSON.parse(String(json!.bytes))).toMatchObject({
      rows: 0,
      columns: [{ name: 'a', distinct: 0, min: null }, { name: 'b' }],
    });
  });
});

describe('chart-maker', () => {
  const csv = 'city,n,day\nKöln,1,2025-01-01\nBonn,2,2025-01-02\nKöln,3,2025-01-03\n"<b>&x",4,2025-01-05\n';

  test.each(['bar', 'line', 'pie', 'scatter'])(
    'a %s chart is a picture of the size that was asked for',
    async (type) => {
      const columns = type === 'scatter' ? 'm,n\n1,2\n3,4\n' : csv;
      const [png] = await run(chartMaker, columns, { type, width: '640', height: '400', title: 'A title' });
      expect(png!.type).toBe('png');
      const path = join(folder, 'chart.png');
      await writeFile(path, png!.bytes);
      expect((await execute('identify', ['-format', '%w %h %k', path])).stdout).toMatch(/^640 400 \d{2,}$/);
    },
  );

  test('says in text what it shows: groups summed up, in their order, and escaped', async () => {
    const [svg] = await run(chartMaker, csv, { format: 'svg', title: '<i>&' });
    const text = String(svg!.bytes);
    expect(svg!.type).toBe('svg');
    const path = join(folder, 'chart.svg');
    await writeFile(path, text);
    await execute('xmllint', ['--nonet', '--noout', path]);
    for (const words of ['>Köln<', '>Bonn<', '>&lt;b&gt;&amp;x<', '>&lt;i&gt;&amp;<', '>city<'])
      expect(text).toContain(words);
    expect(text).toContain('city: Köln; n: 4');
  });

  test('says when not everything is shown', async () => {
    const rows = Array.from({ length: 80 }, (_, n) => `c${n},${n}`).join('\n');
    const [bars] = await run(chartMaker, `k,n\n${rows}\n`, { format: 'svg' });
    expect(String(bars!.bytes)).toContain('The 50 largest of 80 are shown');
    const [pie] = await run(chartMaker, `k,n\n${rows}\n`, { format: 'svg', type: 'pie' });
    expect(String(pie!.bytes)).toContain('68 others');
  });

  test('JSON records, and columns by name', async () => {
    const json = '[{"a":1,"b":5,"c":"x"},{"a":2,"b":6,"c":"y"}]';
    const [svg] = await run(chartMaker, json, { format: 'svg', x: 'c', y: 'B' }, 't.json');
    expect(String(svg!.bytes)).toContain('c: y; b: 6');
  });

  test.each([
    ['an unknown column', csv, { y: 'nope' }, '"city", "n", "day"'],
    ['a column without numbers', csv, { y: 'city' }, 'numbers'],
    ['no column of numbers', 'a,b\nx,y\n', {}, 'numbers'],
    ['no rows', 'a,b\n', {}, 'numbers'],
    ['slices below zero', 'a,b\nx,-1\n', { type: 'pie' }, 'negative'],
  ])('%s is told', async (_name, content, form, words) => {
    await expect(run(chartMaker, content, form as Record<string, string>)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(words) as string,
    });
  });
});
