import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import csvToJson from './csv-to-json-converter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-csv-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function convertText(content: string | Buffer, form: Record<string, string> = {}): Promise<string> {
  const path = join(folder, 'table.csv');
  await writeFile(path, content);
  await using result = await runTool(csvToJson, [path], form);
  const [output] = result.outputs;
  expect(output!.filename).toBe(form['ndjson'] === 'true' ? 'table.ndjson' : 'table.json');
  return await readFile(output!.path, 'utf8');
}

async function convert(content: string | Buffer, form: Record<string, string> = {}): Promise<unknown> {
  return JSON.parse(await convertText(content, form));
}

describe('values', () => {
  test('become numbers, booleans and null only where nothing is lost', async () => {
    const cells: [string, unknown][] = [
      ['42', 42],
      ['-3.25', -3.25],
      ['1.5e-7', 1.5e-7],
      ['true', true],
      ['FALSE', false],
      ['null', null],
      ['', null],
      ['007', '007'],
      ['+49', '+49'],
      ['9007199254740991', 9007199254740991],
      ['9007199254740993', '9007199254740993'],
      ['0.12345678901234567', '0.12345678901234567'],
      ['12e5', '12e5'],
      ['1e999', '1e999'],
      ['2026-11-21', '2026-11-21'],
      ['1,5', '1,5'],
      ['0x10', '0x10'],
      ['NaN', 'NaN'],
      [' 7', ' 7'],
    ];
    const content = ['key,value', ...cells.map(([cell], row) => `${row},"${cell}"`)].join('\n');
    expect(await convert(content)).toEqual(cells.map(([, value], key) => ({ key, value })));
  });

  test('stay text without inference', async () => {
    expect(await convert('a,b\n1,\n', { infer_types: 'false' })).toEqual([{ a: '1', b: '' }]);
  });
});

describe('structure', () => {
  test('quotes, doubled quotes, delimiters and line breaks inside fields', async () => {
    expect(await convert('a,b\r\n"x, ""y""","two\r\nlines"\r\n')).toEqual([{ a: 'x, "y"', b: 'two\r\nlines' }]);
  });

  test('a quote inside a field that does not begin with one is text', async () => {
    expect(await convert('a,b\n1,"x, ""y"""\n5" disk,"""z"" w"\n2,say "no"\n')).toEqual([
      { a: 1, b: 'x, "y"' },
      { a: '5" disk', b: '"z" w' },
      { a: 2, b: 'say "no"' },
    ]);
    expect(await convert('a\tb\n3" nail\tx\n4, 5\ty\n6, 7\tz\n')).toHaveLength(3);
  });

  test('short records have null, long ones get further columns', async () => {
    expect(await convert('a,b\n1\n1,2,3\n4,5\n')).toEqual([
      { a: 1, b: null },
      { a: 1, b: 2, column_3: 3 },
      { a: 4, b: 5, column_3: null },
    ]);
  });

  test('empty and repeated names are made unique', async () => {
    const [record] = (await convert('id,,id,id_2,\n1,2,3,4,5\n')) as [object];
    expect(record).toEqual({ id: 1, column_2: 2, id_3: 3, id_2: 4, column_5: 5 });
  });

  test('a column called __proto__ is a column', async () => {
    expect(await convertText('__proto__,constructor\n1,2\n', { pretty: 'false' })).toBe(
      '[{"__proto__":1,"constructor":2}]\n',
    );
  });

  test('records are arrays without a header', async () => {
    expect(await convert('a,b\n1,2\n', { header: 'false' })).toEqual([
      ['a', 'b'],
      [1, 2],
    ]);
  });

  test('pretty, compact and NDJSON', async () => {
    expect(await convertText('a,b\n1,x\n2,y\n')).toBe(
      '[\n  {\n    "a": 1,\n    "b": "x"\n  },\n  {\n    "a": 2,\n    "b": "y"\n  }\n]\n',
    );
    expect(await convertText('a,b\n1,x\n2,y\n', { pretty: 'false' })).toBe('[{"a":1,"b":"x"},{"a":2,"b":"y"}]\n');
    expect(await convertText('a,b\n1,x\n2,y\n', { ndjson: 'true' })).toBe('{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n');
  });

  test('a table without records is an empty array, and no NDJSON', async () => {
    expect(await convert('a,b\n')).toEqual([]);
    await expect(convert('a,b\n', { ndjson: 'true' })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('delimiters', () => {
  test.each([
    ['comma', ',', 'auto'],
    ['semicolon', ';', 'auto'],
    ['tab', '\t', 'auto'],
    ['pipe', '|', 'auto'],
    ['semicolon as told', ';', ';'],
    ['tab as told', '\t', 'tab'],
  ])('%s', async (_name, character, delimiter) => {
    const content = ['name,price', '"a,b;c|d\te",1', 'x,2'].join('\n').replaceAll(/,(?=price|1|2)/g, character);
    expect(await convert(content, { delimiter })).toEqual([
      { name: 'a,b;c|d\te', price: 1 },
      { name: 'x', price: 2 },
    ]);
  });

  test.each(['auto', ';', ','])(
    "a first line for Excel names the delimiter and is no record, with delimiter '%s'",
    async (delimiter) => {
      const separator = delimiter === ',' ? ',' : ';';
      const content = `sep=${separator}\r\na${separator}b\r\n1${separator}2\r\n`;
      expect(await convert(content, { delimiter })).toEqual([{ a: 1, b: 2 }]);
    },
  );

  test('decimal commas do not make a comma the delimiter', async () => {
    expect(await convert('a;b;c\n1,5;2,5;3\n4,5;5;6,5\n')).toEqual([
      { a: '1,5', b: '2,5', c: 3 },
      { a: '4,5', b: 5, c: '6,5' },
    ]);
  });
});

describe('encodings', () => {
  const content = 'Stadt,Größe\nKöln €,1\n';
  test.each([
    ['UTF-8 with a mark', Buffer.from(`\uFEFF${content}`), 'auto'],
    ['UTF-16LE with a mark', Buffer.from(`\uFEFF${content}`, 'utf16le'), 'auto'],
    ['UTF-16BE with a mark', Buffer.from(`\uFEFF${content}`, 'utf16le').swap16(), 'auto'],
    ['UTF-16LE without', Buffer.from(content, 'utf16le'), 'auto'],
    ['windows-1252', Buffer.from(content.replaceAll('€', '\x80'), 'latin1'), 'auto'],
    ['windows-1252 as told', Buffer.from(content.replaceAll('€', '\x80'), 'latin1'), 'windows-1252'],
  ])('%s', async (_name, bytes, encoding) => {
    expect(await convert(bytes, { encoding })).toEqual([{ Stadt: 'Köln €', Größe: 1 }]);
  });

  test.each([
    ['shift_jis', '商品コード,商品名\n1,りんご\n2,みかん\n3,バナナ\n', '商品名', 'りんご'],
    ['gb18030', '编号,产品名称,价格\n1,苹果,3.5\n2,香蕉,2.0\n', '产品名称', '苹果'],
    ['euc-kr', '번호,이름,도시\n1,김철수,서울\n2,이영희,부산\n', '이름', '김철수'],
  ])('auto tells %s', async (encoding, text, column, first) => {
    const [record] = (await convert(iconv.encode(text, encoding))) as [Record<string, unknown>];
    expect(record[column]).toBe(first);
  });

  test('what is not Western and cannot be told is refused, not garbled', async () => {
    const bytes = iconv.encode('имя,город\nИван,Москва\nПётр,Санкт-Петербург\n', 'windows-1251');
    await expect(convert(bytes)).rejects.toMatchObject({ code: 'invalid_input', file: 'table.csv' });
    expect(await convert(bytes, { encoding: 'windows-1251' })).toHaveLength(2);
  });

  test('UTF-8 with a byte that is none is refused, not garbled', async () => {
    const bytes = Buffer.concat([Buffer.from('a,b\ncafé,Zürich\n'), Buffer.from('K\xf6ln,x\n', 'latin1')]);
    await expect(convert(bytes)).rejects.toMatchObject({ code: 'invalid_input', file: 'table.csv' });
    expect(await convert(bytes, { encoding: 'windows-1252' })).toHaveLength(2);
  });

  test('bytes that are not of the encoding are refused', async () => {
    await expect(convert(Buffer.from('a,b\nK\xf6ln,1\n', 'latin1'), { encoding: 'utf-8' })).rejects.toMatchObject({
      code: 'invalid_input',
      file: 'table.csv',
    });
  });
});

describe('broken files', () => {
  test.each([
    ['a quote that never closes', 'a,b\n1,2\n3,"x\n4,5\n', 'line 3'],
    ['text after a closing quote', 'a,b\n1,"x"y\n', 'line 2'],
    ['text after a closing quote, behind a quote that is text', 'a,b\n5" disk,x\n"x"y,2\n', 'line 3'],
    ['a quote that ends in a later field', 'a,b\n5" disk,"x\n1,"y"\n', 'line 3'],
    ['blanks before a quoted field', 'a,b\n1, "x, y"\n', 'line 2'],
  ])('%s names its line', async (_name, content, line) => {
    await expect(convert(content)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(line) as string,
    });
  });
});

test('a million records in flat memory', { timeout: 120_000 }, async () => {
  const path = join(folder, 'million.csv');
  const rows = 1_000_000;
  function* lines() {
    yield 'id,name,active,score\n';
    for (let n = 0; n < rows; n += 1000) {
      yield Array.from({ length: 1000 }, (_, k) => `${n + k},"name ${n + k}",true,${(n + k) / 4}\n`).join('');
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
  const before = process.memoryUsage.rss();
  await using result = await runTool(csvToJson, [path], { ndjson: 'true' });
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  expect(result.progress.length).toBeGreaterThan(2);
  const written = await readFile(result.outputs[0]!.path, 'utf8');
  expect(written.endsWith('{"id":999999,"name":"name 999999","active":true,"score":249999.75}\n')).toBe(true);
  expect(written.match(/\n/g)).toHaveLength(rows);
});
