import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { runTool } from '../../../test/run-tool.ts';
import type { Tool } from '../define.ts';
import jsonFormatter from './json-formatter.ts';
import jsonToYaml from './json-to-yaml-converter.ts';
import yamlToJson from './yaml-to-json-converter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-json-yaml-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(tool: unknown, content: string | Buffer, form: Record<string, string> = {}): Promise<string[]> {
  const path = join(folder, 'data.txt');
  await writeFile(path, content);
  await using result = await runTool(tool as Tool, [path], form);
  return await Promise.all(result.outputs.map((output) => readFile(output.path, 'utf8')));
}
const format = async (content: string | Buffer, form?: Record<string, string>) =>
  (await run(jsonFormatter, content, form))[0];

describe('json-formatter', () => {
  const odd =
    '{"b":1.0,"a":1e400,"2":12345678901234567890,"1":-0,"b":"\\u00e9\\/é","__proto__":[ ],"e":{ },"l":[1,[2,{"x":null}]]}';
  test('changes no number, text, key, order or repetition', async () => {
    expect(await format(odd, { minify: 'true' })).toBe(
      '{"b":1.0,"a":1e400,"2":12345678901234567890,"1":-0,"b":"\\u00e9\\/é","__proto__":[],"e":{},"l":[1,[2,{"x":null}]]}\n',
    );
    const pretty = await format(odd);
    expect(pretty).toContain('  "a": 1e400,\n  "2": 12345678901234567890,\n');
    expect(pretty).toContain('  "l": [\n    1,\n    [\n      2,\n      {\n        "x": null\n      }\n    ]\n  ]\n}\n');
  });

  test('sorts keys and indents as told', async () => {
    expect(await format('{"b":1,"a":{"d":1,"c":2}}', { sort_keys: 'true', indent: '1' })).toBe(
      '{\n "a": {\n  "c": 2,\n  "d": 1\n },\n "b": 1\n}\n',
    );
    expect(await format('[1, 2]', { indent: '0' })).toBe('[1,2]\n');
  });

  test('turns JSON5 into JSON', async () => {
    const json5 = `// head\n{a: 'it\\'s "x"', $b: 0xFFFFFFFFFFFFFFFFFF, c: +.5, d: 5., /* in */ 'e': [1,2,], f: "a\\\nb",}`;
    expect(await format(json5, { minify: 'true' })).toBe(
      '{"a":"it\'s \\"x\\"","$b":4722366482869645213695,"c":0.5,"d":5,"e":[1,2],"f":"ab"}\n',
    );
    await expect(format('{a: Infinity}')).rejects.toThrow(/Infinity has no place in JSON/);
  });

  test('reads UTF-8 with a mark and UTF-16', async () => {
    expect(await format(Buffer.from('\uFEFF["ä"]'), { indent: '0' })).toBe('["ä"]\n');
    expect(await format(Buffer.from('\uFEFF["ä"]', 'utf16le'), { indent: '0' })).toBe('["ä"]\n');
  });

  test.each([
    ['{"a":1,\n "b" 2}', 'line 2, column 6'],
    ['{"a":[1,2}', 'line 1, column 10'],
    ['["a\nb"]', 'closed on its line'],
    ['["\\x"]x', 'line 1'],
    ['{"a":1}}', 'end of the file'],
    ['{"a":01}', 'line 1, column 6'],
    ['', 'empty'],
  ])('tells what is wrong with %j', async (content, words) => {
    await expect(format(content)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(words) as string,
    });
  });

  test('refuses what is nested to exhaust a stack', async () => {
    await expect(format('['.repeat(100_000))).rejects.toMatchObject({ code: 'resource_limit' });
  });
});

describe('json-to-yaml-converter', () => {
  const convert = async (content: string, form?: Record<string, string>) => (await run(jsonToYaml, content, form))[0]!;

  test('comes back the same in YAML 1.1 and 1.2', async () => {
    const value = {
      texts: [
        'no',
        'yes',
        'on',
        'null',
        '~',
        '1.0',
        '0x1F',
        '1e3',
        '12:30:45',
        '2026-11-21',
        '',
        ' x ',
        'a: b',
        '# c',
        '- d',
        '00123',
        '=',
        '<<',
      ],
      lines: 'two\nlines\n',
      list: [[], {}, [1, [2]], null, true],
      'key: odd': 1,
      '5': 'number as key',
    };
    const yaml = await convert(JSON.stringify(value));
    expect(parseYaml(yaml)).toEqual(value);
    expect(parseYaml(yaml, { version: '1.1' })).toEqual(value);
  });

  test('numbers keep their digits', async () => {
    expect(await convert('{"a":12345678901234567890,"b":1.0,"c":1e400,"d":-0.10}')).toBe(
      'a: 12345678901234567890\nb: 1.0\nc: 1e400\nd: -0.10\n',
    );
  });

  test('indent and order', async () => {
    expect(await convert('{"b":{"y":1,"x":[1]},"a":2}', { indent: '4', sort_keys: 'true' })).toBe(
      'a: 2\nb:\n    x:\n        - 1\n    "y": 1\n',
    );
  });

  test('a repeated key and broken JSON are refused', async () => {
    await expect(convert('{"a":1,"a":2}')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(convert('{"a":')).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('yaml-to-json-converter', () => {
  const convert = async (content: string, form: Record<string, string> = { pretty: 'false' }) =>
    await run(yamlToJson, content, form);

  test('scalars, anchors, merges, dates, large numbers', async () => {
    const yaml = `
base: &b {x: 1, y: 2}
use: {<<: *b, y: 3}
date: 2026-11-21
no: no
big: 12345678901234567890
price: 1.10
hex: 0xff
inf: .inf
5: five
~: none
text: |
  two
  lines
`;
    const [json] = await convert(yaml);
    expect(json).toBe(
      '{"base":{"x":1,"y":2},"use":{"y":3,"x":1},"date":"2026-11-21","no":"no","big":12345678901234567890,"price":1.10,' +
        '"hex":255,"inf":".inf","5":"five","null":"none","text":"two\\nlines\\n"}\n',
    );
  });

  test('several documents', async () => {
    expect(await convert('a: 1\n---\nb: 2\n')).toEqual(['[{"a":1},{"b":2}]\n']);
    expect(await convert('a: 1\n---\nb: 2\n', { pretty: 'false', multi_doc: 'split' })).toEqual([
      '{"a":1}\n',
      '{"b":2}\n',
    ]);
  });

  test.each([
    ['a: b: c\n', 'line 1'],
    ['a: 1\na: 2\n', 'line 2'],
    ['a: *nowhere\n', '*nowhere'],
    ['a: [1, 2\n', 'line 2'],
    ['\t- x\n', 'line 1'],
  ])('tells where %j is wrong', async (content, words) => {
    await expect(convert(content)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(words) as string,
    });
  });

  test('keys that are lists or maps become their JSON', async () => {
    expect((await run(yamlToJson, '? [k, 1]\n: v\n', { pretty: 'false' }))[0]).toBe('{"[\\"k\\",1]":"v"}\n');
  });

  test('an ordered map keeps its values', async () => {
    expect(await convert('a: !!omap [x: 1, y: [2]]\n')).toEqual(['{"a":[{"x":1},{"y":[2]}]}\n']);
  });

  test('a bomb of aliases is refused', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, n) => `l${n}: &l${n} [${Array.from({ length: 10 }, () => (n === 0 ? 'x' : `*l${n - 1}`)).join(',')}]`,
    );
    await expect(convert(`${levels.join('\n')}\n`)).rejects.toMatchObject({ code: 'resource_limit' });
  });
});
