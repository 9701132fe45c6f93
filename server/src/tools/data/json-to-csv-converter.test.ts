import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import jsonToCsv from './json-to-csv-converter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-json-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function convert(content: string | Buffer, form: Record<string, string> = {}): Promise<string> {
  const path = join(folder, 'table.json');
  await writeFile(path, content);
  await using result = await runTool(jsonToCsv, [path], form);
  return await readFile(result.outputs[0]!.path, 'utf8');
}

test('columns are the union of all keys, and values come out as they were written', async () => {
  const json = '[{"id":12345678901234567890,"n":1.0},{"zip":"00123","id":null,"ok":true}]';
  expect(await convert(json)).toBe('id,n,zip,ok\n12345678901234567890,1.0,,\n,,00123,true\n');
});

test('nested objects become columns, or cells of JSON', async () => {
  const json = '[{"a":{"b":1,"c":{"d":"x"}},"tags":["p","q"]}]';
  expect(await convert(json)).toBe('a.b,a.c.d,tags\n1,x,"[""p"",""q""]"\n');
  expect(await convert(json, { flatten: 'false' })).toBe('a,tags\n"{""b"":1,""c"":{""d"":""x""}}","[""p"",""q""]"\n');
});

test('keys that would meet in one name stay two columns', async () => {
  expect(await convert('[{"a.b":1,"a":{"b":2}}]')).toBe('a.b,a.b_2\n1,2\n');
});

describe('path', () => {
  const json = '{"meta":{"x":[1]},"data":{"items":[{"a":1},{"a":2}]},"rest":"end"}';
  test.each([
    ['$.data.items', 'a\n1\n2\n'],
    ["$['data']['items']", 'a\n1\n2\n'],
    ['$.data.items[?@.a > 1]', 'a\n2\n'],
    ['$..items', 'a\n1\n2\n'],
    ['$.meta', 'x\n[1]\n'],
  ])('%s', async (path, csv) => {
    expect(await convert(json, { path })).toBe(csv);
  });

  test('that leads nowhere, or is none, is refused', async () => {
    await expect(convert(json, { path: '$.nothing' })).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(convert(json, { path: '$.data[?' })).rejects.toThrow(/JSONPath/);
  });

  test('keeps large numbers in a query too', async () => {
    expect(await convert('{"r":[{"id":12345678901234567890}]}', { path: '$.r[*]' })).toBe('id\n12345678901234567890\n');
  });
});

test('quotes, delimiter, byte order mark', async () => {
  const csv = await convert('[{"a":"x;y","b":"say \\"hi\\"","c":"two\\nlines"}]', { delimiter: ';', bom: 'true' });
  expect(csv).toBe('\uFEFFa;b;c\n"x;y";"say ""hi""";"two\nlines"\n');
});

test('formulas are neutralised when asked, numbers never', async () => {
  const json = '[{"a":"=1+1","b":"@SUM(A1)","c":-5,"d":"-5","e":"+cmd","f":"+49 30"}]';
  expect(await convert(json)).toContain('=1+1,@SUM(A1),-5,-5,+cmd');
  expect(await convert(json, { escape_formulas: 'true' })).toBe("a,b,c,d,e,f\n'=1+1,'@SUM(A1),-5,-5,'+cmd,'+49 30\n");
});

test('a character that no text file holds is refused', async () => {
  await expect(convert('[{"a":"x\\u0001y"}]')).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining('U+0001') as string,
  });
});

test('NDJSON, single objects, arrays and plain values', async () => {
  expect(await convert('{"a":1}\n{"b":2}\n')).toBe('a,b\n1,\n,2\n');
  expect(await convert('{"a":1}')).toBe('a\n1\n');
  expect(await convert('[[1,"x"],[2,"y"]]')).toBe('column_1,column_2\n1,x\n2,y\n');
  expect(await convert('["x","y"]')).toBe('value\nx\ny\n');
  expect(await convert(Buffer.from('\uFEFF[{"ä":1}]', 'utf16le'))).toBe('ä\n1\n');
});

test.each([
  ['no records', '[]', 'no records'],
  ['a record cut short', '[{"a":1},\n{"a":', 'line 2'],
  ['a mistake in a record', '[{"a":1},\n{"a":01}]', 'line 2'],
  ['a missing comma', '[{"a":1}\n{"a":2}]', 'line 2'],
  ['text that is no JSON', 'hello', 'not valid JSON'],
  ['a comma too much', '[{"a":1},]', 'not valid JSON'],
])('%s is told', async (_name, content, words) => {
  await expect(convert(content)).rejects.toMatchObject({
    code: 'invalid_input',
    message: expect.stringContaining(words) as string,
  });
});

test('many records stream in flat memory', { timeout: 60_000 }, async () => {
  const path = join(folder, 'many.json');
  function* records() {
    yield '[';
    for (let n = 0; n < 50_000; n++)
      yield `${n > 0 ? ',\n' : ''}{"id":${n},"name":"name ${n}","deep":{"score":${n / 4}}}`;
    yield ']';
  }
  await pipeline(Readable.from(records()), createWriteStream(path));
  const before = process.memoryUsage.rss();
  await using result = await runTool(jsonToCsv, [path]);
  expect(process.memoryUsage.rss() - before).toBeLessThan(150 * 1024 * 1024);
  const csv = await readFile(result.outputs[0]!.path, 'utf8');
  expect(csv.endsWith('49999,name 49999,12499.75\n')).toBe(true);
  expect(csv.match(/\n/g)).toHaveLength(50_001);
});
