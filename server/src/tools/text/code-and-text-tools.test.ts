import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import codeFormatter from './code-formatter.ts';
import codeMinifier from './code-minifier.ts';
import textDiffer from './text-differ.ts';
import textEncodingConverter from './text-encoding-converter.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrun-test-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function file(name: string, content: Uint8Array | string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

const script =
  'function add(first, second) {\n  // adds\n  return first + second;\n}\nexport const three = add(1, 2);\n';
const sources = {
  'page.html':
    '<!doctype html>\n<html><head><title> A  page </title></head><body>\n  <p>one  <b>two</b> three</p><!-- x -->\n</body></html>\n',
  'style.css': 'a { color: #ff0000; }\n\na:hover { color: rgb(0, 0, 255); }\n',
  'script.js': script,
  'data.json': '{ "big": 12345678901234567890, "text": "a  b", "n": 1.50 }\n',
  'drawing.svg':
    '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><!-- c --><rect x="0" y="0" width="10" height="10" fill="#ff0000"/></svg>\n',
};

describe('code-minifier', () => {
  test.each(Object.entries(sources))('makes %s shorter', async (name, content) => {
    await using run = await runTool(codeMinifier, [await file(name, content)]);
    const [output] = run.outputs;
    expect(output?.filename).toBe(name.replace('.', '.min.'));
    expect(output?.sizeBytes).toBeLessThan(content.length);
  });

  test('keeps what the code means', async () => {
    await using run = await runTool(codeMinifier, [
      await file('script.mjs', script),
      await file('data.json', sources['data.json']),
    ]);
    const [js, json] = run.outputs;
    const code = `import(process.argv[1]).then(({ three }) => console.log(three))`;
    await writeFile(join(directory, 'minified.mjs'), await readFile(js!.path));
    expect(execFileSync(process.execPath, ['-e', code, join(directory, 'minified.mjs')], { encoding: 'utf8' })).toBe(
      '3\n',
    );
    expect(await readFile(json!.path, 'utf8')).toBe('{"big":12345678901234567890,"text":"a  b","n":1.50}');
  });

  test('refuses a script of nothing but comments', async () => {
    const path = await file('empty.js', '// nothing to do\n/* here */\n');
    await expect(runTool(codeMinifier, [path])).rejects.toMatchObject({ code: 'invalid_input', file: 'empty.js' });
  });

  test('keeps names when it is told to, and makes source maps', async () => {
    const form = { mangle: 'false', source_map: 'true' };
    await using run = await runTool(codeMinifier, [await file('script.js', script)], form);
    expect(run.outputs.map(({ filename }) => filename)).toEqual(['script.min.js', 'script.min.js.map']);
    const [code, map] = await Promise.all(run.outputs.map(({ path }) => readFile(path, 'utf8')));
    expect(code).toMatch(/first.*second.*sourceMappingURL=script\.min\.js\.map$/s);
    expect(JSON.parse(map ?? '')).toMatchObject({ version: 3, sources: ['script.js'] });
  });

  test.each([
    ['broken.js', 'const = 1;', 'line 1'],
    ['broken.css', 'a { color: red', undefined],
    ['deep.js', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, undefined],
  ])('says where %s cannot be parsed, or makes something of it', async (name, content, words) => {
    const run = runTool(codeMinifier, [await file(name, content)]).then(async (done) => done[Symbol.asyncDispose]());
    if (words === undefined)
      await run.catch((error: unknown) => expect(error).toMatchObject({ code: 'invalid_input' }));
    else await expect(run).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(words) });
  });
});

describe('code-formatter', () => {
  test.each([
    ['a.js', 'const a={b:1}', 'const a = { b: 1 };\n'],
    ['a.ts', 'const a:number=1', 'const a: number = 1;\n'],
    ['a.css', 'a{b:c}', 'a {\n    b: c;\n}\n'],
    ['a.json', '{"a":12345678901234567890}', '{ "a": 12345678901234567890 }\n'],
    ['a.yaml', 'a:   1\nb:  [1,2]\n', 'a: 1\nb: [1, 2]\n'],
    ['a.md', '*  one\n*  two\n', '- one\n- two\n'],
    ['a.html', '<p>a</p>', '<p>a</p>\n'],
    ['a.xml', '<?xml version="1.0"?><a><b>x</b></a>', '<?xml version="1.0" ?>\n<a>\n    <b>x</b>\n</a>\n'],
    ['a.sql', 'select a,b from t where a=1', 'select\n    a,\n    b\nfrom\n    t\nwhere\n    a = 1\n'],
  ])('formats %s', async (name, content, formatted) => {
    await using run = await runTool(codeFormatter, [await file(name, content)], { indent: '4' });
    expect(run.outputs[0]?.filename).toBe(name);
    expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe(formatted);
  });

  test('says where code cannot be parsed', async () => {
    const wrong = runTool(codeFormatter, [await file('wrong.ts', 'const a: = 1;')]);
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('(1:10)') });
  });
});

describe('text-encoding-converter', () => {
  const russian =
    'Москва является столицей России. Город расположен на западе страны, на реке Москве. ' +
    'Население города составляет более двенадцати миллионов человек.\r\n';

  test.each([
    ['windows-1251', russian],
    ['koi8-r', russian],
    ['shift_jis', '吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。\n'.repeat(10)],
    ['latin1', 'Fußgängerübergänge für € 5 — déjà vu\n'.repeat(10)],
    ['utf-16', 'plain Ω text\n'],
  ])('turns UTF-8 into %s and finds its way back', async (encoding, text) => {
    await using there = await runTool(textEncodingConverter, [await file('text.txt', text)], { to: encoding });
    const name = encoding === 'latin1' ? 'CP1252' : encoding === 'utf-16' ? 'UTF-16LE' : encoding;
    expect(execFileSync('iconv', ['-f', name, '-t', 'UTF-8', there.outputs[0]!.path], { encoding: 'utf8' })).toBe(text);
    await using back = await runTool(textEncodingConverter, [there.outputs[0]!]);
    expect(await readFile(back.outputs[0]!.path, 'utf8')).toBe(text);
  });

  test('changes line ends and sets a byte order mark', async () => {
    const path = await file('lines.txt', 'a\nb\r\nc\rd');
    await using run = await runTool(textEncodingConverter, [path], { newline: 'crlf', bom: 'true' });
    expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe('\uFEFFa\r\nb\r\nc\r\nd');
  });

  test('does not take a few Japanese words for Western ones', async () => {
    const bytes = Buffer.from('96bc914f2c926c0a93fa967b2c310a938c8b9e2c320a', 'hex'); // 名前,値 日本,1 東京,2
    const path = await file('words.txt', bytes);
    await expect(runTool(textEncodingConverter, [path])).rejects.toMatchObject({ code: 'invalid_input' });
    await using run = await runTool(textEncodingConverter, [path], { from: 'shift_jis' });
    expect(await readFile(run.outputs[0]!.path, 'utf8')).toBe('名前,値\n日本,1\n東京,2\n');
  });

  test('refuses to lose a character', async () => {
    const wrong = runTool(textEncodingConverter, [await file('greek.txt', 'Ω')], { to: 'latin1' });
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining('"Ω"') });
    const cut = await file('guess.txt', Buffer.from('ùûüÿ ´ð', 'latin1'));
    await expect(runTool(textEncodingConverter, [cut])).rejects.toThrow('cannot be told');
    const bytes = await file('bytes.txt', Buffer.from([0x61, 0xe4, 0x62]));
    await expect(runTool(textEncodingConverter, [bytes], { from: 'utf-8' })).rejects.toThrow('is not utf-8');
  });
});

describe('text-differ', () => {
  const before = 'one\ntwo\nthree\n';
  const after = 'one\n2 <b>\nthree\nfour\n';

  test('writes a patch that patch(1) can apply', async () => {
    const paths = [await file('before.txt', before), await file('after.txt', after)];
    await using run = await runTool(textDiffer, paths);
    execFileSync('patch', ['-s', join(directory, 'before.txt'), run.outputs[0]!.path]);
    expect(await readFile(join(directory, 'before.txt'), 'utf8')).toBe(after);
  });

  test('writes a page without markup of the files in it, and a report', async () => {
    const paths = [await file('b.txt', before), await file('a.txt', after)];
    await using html = await runTool(textDiffer, paths, { format: 'html' });
    const page = await readFile(html.outputs[0]!.path, 'utf8');
    expect(page).toContain('2 lines added, 1 removed');
    expect(page).toContain('2 &lt;b&gt;');
    await using json = await runTool(textDiffer, paths, { format: 'json' });
    expect(JSON.parse(await readFile(json.outputs[0]!.path, 'utf8'))).toMatchObject({ added: 2, removed: 1 });
  });

  test('can leave white space out', async () => {
    const paths = [await file('b.txt', 'a b\n'), await file('a.txt', 'a   b \n')];
    await using run = await runTool(textDiffer, paths, { format: 'json', ignore_whitespace: 'true' });
    expect(JSON.parse(await readFile(run.outputs[0]!.path, 'utf8'))).toMatchObject({ added: 0, removed: 0 });
  });
});
