import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import type { Tool } from '../define.ts';
import csvCleaner from './csv-cleaner.ts';
import csvMerger from './csv-merger.ts';
import csvSplitter from './csv-splitter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-csv-tables-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(tool: unknown, contents: (string | Buffer)[], form: Record<string, string> = {}) {
  const paths = await Promise.all(
    contents.map(async (content, index) => {
      const path = join(folder, `t${index}.csv`);
      await writeFile(path, content);
      return path;
    }),
  );
  await using result = await runTool(tool as Tool, paths, form);
  const read = result.outputs.map(async ({ path, filename }) => [filename, await readFile(path, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read)) as Record<string, string>;
}

describe('csv-merger', () => {
  const one = 'id,name\n1,"a, ""b"""\n2,c\n';
  const two = Buffer.from('\uFEFFname;id;größe\r\nc;2;"x\ny"\r\nd;3;ä\r\n', 'utf16le');

  test('columns meet by name over delimiters, encodings and order', async () => {
    expect(await run(csvMerger, [one, two])).toEqual({
      'merged.csv': 'id,name,größe\n1,"a, ""b""",\n2,c,\n2,c,"x\ny"\n3,d,ä\n',
    });
  });

  test('common columns only, each row once, with its source', async () => {
    const form = { mode: 'intersect', dedupe: 'true', add_source: 'true' };
    expect(await run(csvMerger, [one, two], form)).toEqual({
      'merged.csv': 'id,name,source_file\n1,"a, ""b""",t0.csv\n2,c,t0.csv\n3,d,t1.csv\n',
    });
  });

  test('nothing in common, an empty file and a row too long are told', async () => {
    await expect(run(csvMerger, ['a,b\n1,2\n', 'c,d\n1,2\n'], { mode: 'intersect' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(run(csvMerger, [one, '\n'])).rejects.toMatchObject({ code: 'invalid_input', file: 't1.csv' });
    await expect(run(csvMerger, [one, 'a,b\n1,2,3\n'])).rejects.toThrow(/record 2/);
  });
});

describe('csv-splitter', () => {
  const csv = 'city;n\nKöln;1\nBonn;"2\n2"\nKöln;3\n../x;4\n;5\n';

  test('by rows, with and without the header', async () => {
    expect(await run(csvSplitter, [csv], { rows: '2' })).toEqual({
      't0-1.csv': 'city;n\nKöln;1\nBonn;"2\n2"\n',
      't0-2.csv': 'city;n\nKöln;3\n../x;4\n',
      't0-3.csv': 'city;n\n;5\n',
    });
    const parts = await run(csvSplitter, [csv], { rows: '5', keep_header: 'false' });
    expect(Object.values(parts).join('')).toBe(csv);
  });

  test('by the values of a column', async () => {
    expect(await run(csvSplitter, [csv], { by_column: 'CITY' })).toEqual({
      't0-Köln.csv': 'city;n\nKöln;1\nKöln;3\n',
      't0-Bonn.csv': 'city;n\nBonn;"2\n2"\n',
      't0-.._x.csv': 'city;n\n../x;4\n',
      't0-empty.csv': 'city;n\n;5\n',
    });
    await expect(run(csvSplitter, [csv], { by_column: 'x' })).rejects.toThrow(/it has "city", "n"/);
  });

  test('a header alone, and too many files, are told', async () => {
    await expect(run(csvSplitter, ['a,b\n'])).rejects.toMatchObject({ code: 'invalid_input' });
    const many = `a,b\n${'1,2\n'.repeat(1001)}`;
    await expect(run(csvSplitter, [many], { rows: '1' })).rejects.toMatchObject({ code: 'resource_limit' });
  });

  test('every row of a large table is in one part', async () => {
    const rows = Array.from({ length: 30_000 }, (_, n) => `${n % 700},"x ${n}\n"`);
    const parts = await run(csvSplitter, [`k,v\n${rows.join('\n')}\n`], { by_column: 'k' });
    expect(Object.keys(parts)).toHaveLength(700);
    expect(Object.values(parts).flatMap((part) => parse(part, { from: 2 }))).toHaveLength(30_000);
  });
});

describe('csv-cleaner', () => {
  test('trims, drops, makes rows even and names unique', async () => {
    const csv = Buffer.from(' First Name ,Größe\xa0(cm),id,id\n a ,1,2,3\na,1,2,3\n , , ,\nb\nc,1,2,3,4\n', 'latin1');
    expect(await run(csvCleaner, [csv], { normalise_headers: 'true' })).toEqual({
      't0.csv': 'first_name,grosse_cm,id,id_2,column_5\na,1,2,3,\nb,,,,\nc,1,2,3,4\n',
    });
  });

  test('leaves what it is told to leave', async () => {
    const csv = 'a;b\n x ;1\n x ;1\n;\n';
    const form = { trim: 'false', dedupe: 'false', drop_empty: 'false' };
    expect(await run(csvCleaner, [csv], form)).toEqual({ 't0.csv': 'a;b\n" x ";1\n" x ";1\n;\n' });
  });

  test('an empty table is told', async () => {
    await expect(run(csvCleaner, [' , \n , \n'])).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
