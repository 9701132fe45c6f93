import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import type { Tool } from '../define.ts';
import jsonToXml from './json-to-xml-converter.ts';
import xmlFormatter from './xml-formatter.ts';
import xmlToJson from './xml-to-json-converter.ts';

const execute = promisify(execFile);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-xml-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(tool: unknown, contents: (string | Buffer)[], form: Record<string, string> = {}): Promise<Buffer[]> {
  const paths = await Promise.all(
    contents.map(async (content, index) => {
      const path = join(folder, `file${index}.xml`);
      await writeFile(path, content);
      return path;
    }),
  );
  await using result = await runTool(tool as Tool, paths, form);
  return await Promise.all(result.outputs.map((output) => readFile(output.path)));
}
const format = async (xml: string | Buffer, form?: Record<string, string>) =>
  String((await run(xmlFormatter, [xml], form))[0]);
const toJson = async (xml: string | Buffer, form?: Record<string, string>) =>
  JSON.parse(String((await run(xmlToJson, [xml], form))[0])) as unknown;
const toXml = async (json: string, form?: Record<string, string>) => String((await run(jsonToXml, [json], form))[0]);

/** The document in its canonical form, by the other program. */
async function canonical(xml: string): Promise<string> {
  const path = join(folder, 'canonical.xml');
  await writeFile(path, xml);
  return (await execute('xmllint', ['--nonet', '--noblanks', '--c14n', path])).stdout;
}

const odd =
  '<?xml version="1.0"?><!-- head --><!DOCTYPE a [<!ENTITY e "x > y">]><a  x="1"\n   y=\'a>b\'><b/><c>t <i>m</i> &amp; &e;\n</c>' +
  '<d xml:space="preserve"> <e/> </d><f> </f><![CDATA[]]></a><?pi z?>';

describe('xml-formatter', () => {
  test('indents elements and leaves text, CDATA, comments and entities alone', async () => {
    const xml =
      '<r><!--c--><a  x="1"\n   y=\'a>b\'><b/><c>t <i>m</i> &amp;\n</c></a><d xml:space="preserve"> <e/> </d><f> </f><g><![CDATA[<x>]]></g></r>';
    expect(await format(xml)).toBe(
      '<r>\n  <!--c-->\n  <a x="1" y=\'a>b\'>\n    <b/>\n    <c>t <i>m</i> &amp;\n</c>\n  </a>\n' +
        '  <d xml:space="preserve"> <e/> </d>\n  <f> </f>\n  <g><![CDATA[<x>]]></g>\n</r>\n',
    );
    expect(await format(odd)).toContain(
      '<!DOCTYPE a [<!ENTITY e "x > y">]>\n<a x="1" y=\'a>b\'><b/><c>t <i>m</i> &amp; &e;\n</c>',
    );
  });

  test('minified and indented again is the same document', async () => {
    const xml = '<?xml version="1.0"?>\n<r>\n  <a>\n    <b> keep </b>\n  </a>\n</r>';
    const small = await format(xml, { minify: 'true' });
    expect(small).toBe('<?xml version="1.0"?><r><a><b> keep </b></a></r>\n');
    expect(await canonical(await format(small, { indent: '4' }))).toBe(await canonical(xml));
  });

  test.each(['ISO-8859-1', 'windows-1252', 'UTF-8'])('keeps the encoding %s', async (encoding) => {
    const xml = `<?xml version="1.0" encoding="${encoding}"?><a><b>ä</b></a>`;
    const [out] = await run(xmlFormatter, [Buffer.from(xml, encoding === 'UTF-8' ? 'utf8' : 'latin1')]);
    expect(out!.toString(encoding === 'UTF-8' ? 'utf8' : 'latin1')).toContain(
      `encoding="${encoding}"?>\n<a>\n  <b>ä</b>`,
    );
  });

  test('UTF-16 stays UTF-16', async () => {
    const [out] = await run(xmlFormatter, [
      Buffer.from('\uFEFF<?xml version="1.0" encoding="UTF-16"?><a><b/></a>', 'utf16le'),
    ]);
    expect(out!.toString('utf16le')).toBe('\uFEFF<?xml version="1.0" encoding="UTF-16"?>\n<a>\n  <b/>\n</a>\n');
  });

  test.each([
    ['a tag that does not close', '<a>\n<b></a>', 'line 2'],
    ['two roots', '<a/><b/>', 'line 1'],
    ['an unknown entity', '<a>&nope;</a>', 'nope'],
    ['no XML', 'hello', 'line 1'],
  ])('tells of %s', async (_name, xml, words) => {
    await expect(format(xml)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(words) as string,
    });
  });

  test('a bomb of entities and one of levels are refused', async () => {
    const entities = Array.from({ length: 12 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('');
    const bomb = `<!DOCTYPE a [<!ENTITY e0 "xxxxxxxxxx">${entities}]><a b="&e12;"/>`;
    await expect(format(bomb)).rejects.toMatchObject({ code: 'resource_limit' });
    await expect(format('<a>'.repeat(100_000))).rejects.toMatchObject({ code: 'resource_limit' });
  });

  const schema = (more = '') =>
    `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${more}<xs:element name="a" type="xs:int"/></xs:schema>`;

  test('a schema judges what entities of the document say', async () => {
    const xml = (value: string) => `<!DOCTYPE a [<!ENTITY e "${value}">]><a>&e;</a>`;
    expect((await run(xmlFormatter, [xml('7'), schema()])).map(String)).toEqual([
      expect.stringContaining('<a>&e;</a>'),
    ]);
    await expect(run(xmlFormatter, [xml('x'), schema()])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('a schema that is sent along judges the others', async () => {
    expect((await run(xmlFormatter, ['<a>7</a>', schema()])).map(String)).toEqual(['<a>7</a>\n']);
    await expect(run(xmlFormatter, ['<a>x</a>', schema()])).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringMatching(/line 1.*not a valid value/) as string,
    });
    expect(await run(xmlFormatter, ['<a>x</a>', schema()], { validate: 'false' })).toHaveLength(2);
  });

  test('a schema reads no other file', async () => {
    await writeFile(join(folder, 'other.xsd'), schema());
    const including = schema(`<xs:include schemaLocation="file://${folder}/other.xsd"/>`);
    await expect(run(xmlFormatter, ['<a>7</a>', including])).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('xml-to-json-converter', () => {
  const xml =
    '<r id="1" xmlns:n="u"><a>007</a><a/><n:b x="&lt;2">t &#228;<![CDATA[<c>]]></n:b><m>one <i>two</i> three</m></r>';

  test('attributes with a prefix, merged and dropped', async () => {
    expect(await toJson(xml)).toEqual({
      r: {
        '@id': '1',
        '@xmlns:n': 'u',
        a: ['007', ''],
        'n:b': { '@x': '<2', '#text': 't ä<c>' },
        m: { i: 'two', '#text': 'one  three' },
      },
    });
    expect(await toJson('<r id="1"><id>2</id></r>', { attributes: 'merge' })).toEqual({ r: { id: ['1', '2'] } });
    expect(await toJson('<r id="1"><a/></r>', { attributes: 'drop', arrays: 'always' })).toEqual({ r: { a: [''] } });
  });

  test('a child called __proto__ is a key like any other', async () => {
    expect(String((await run(xmlToJson, ['<r><__proto__>1</__proto__></r>'], { pretty: 'false' }))[0])).toBe(
      '{"r":{"__proto__":"1"}}\n',
    );
  });

  test.each([
    ['a text', '<!ENTITY e "Company">', '<a>The &e; &amp; &e;</a>', 'The Company & Company'],
    [
      'an attribute',
      `<!ENTITY e 'say "x"'><!ENTITY f "&e; &amp; it&#39;s">`,
      '<a b="&f;"/>',
      { '@b': `say "x" & it's` },
    ],
    ['elements', '<!ENTITY e "<b c=\'&f;\'>x</b>"><!ENTITY f "y">', '<a>&e;</a>', { b: { '@c': 'y', '#text': 'x' } }],
    ['a character that was written twice', '<!ENTITY e "AT&#38;#38;T">', '<a>&e;</a>', 'AT&T'],
    ['the first of two', '<!-- <!ENTITY e "0"> --><!ENTITY e "1"><!ENTITY e "2">', '<a>&e;</a>', '1'],
    ['marks of a comment', '<!ENTITY e "a<!--b-->c"><!-- it\'s -->', '<a>&e;</a>', 'ac'],
    [
      'what looks like one',
      '<!ENTITY e "x">',
      '<a b="&amp;e;">&amp;e;<![CDATA[&e;]]></a>',
      { '@b': '&e;', '#text': '&e;&e;' },
    ],
  ])('an entity of the document: %s', async (_name, definition, xml, value) => {
    expect(await toJson(`<!DOCTYPE a [${definition}]>${xml}`)).toEqual({ a: value });
  });

  test('nothing outside the document is read', async () => {
    for (const definition of [
      '[<!ENTITY e SYSTEM "file:///etc/hostname">]',
      '[<!ENTITY e SYSTEM "file:///etc/hostname"><!ENTITY e "x">]',
      '[<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]',
      'SYSTEM "a.dtd"',
    ]) {
      for (const xml of ['<a>&e;</a>', '<a b="&e;"/>']) {
        const failure = await toJson(`<!DOCTYPE a ${definition}>${xml}`).catch((error: unknown) => error);
        expect(failure).toMatchObject({ code: 'invalid_input' });
      }
    }
    await expect(toJson('<!DOCTYPE a SYSTEM "a.dtd"><a>&e;</a>')).rejects.toThrow(/&e;/);
  });

  test('loops and bombs of entities are refused', async () => {
    const bomb = (first: string) =>
      `<!ENTITY e0 "${first}">${Array.from({ length: 9 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join('')}`;
    await expect(toJson(`<!DOCTYPE a [${bomb('lol')}]><a>&e9;</a>`)).rejects.toMatchObject({ code: 'resource_limit' });
    await expect(toJson(`<!DOCTYPE a [${bomb('')}]><a b="&e9;"/>`)).rejects.toMatchObject({ code: 'resource_limit' });
    await expect(toJson('<!DOCTYPE a [<!ENTITY e "&f;"><!ENTITY f "&e;">]><a>&e;</a>')).rejects.toThrow(/loop/);
  });
});

describe('json-to-xml-converter', () => {
  test('keys, arrays, attributes, text and odd names', async () => {
    const json =
      '{"a":[1.0,12345678901234567890],"b":{"@id":"x\\"<","#text":"t & u"},"1 c":null,"x:y":"","d":[[1],[]],"":true}';
    expect(await toXml(json)).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<root>\n  <a>1.0</a>\n  <a>12345678901234567890</a>\n' +
        '  <b id="x&quot;&lt;">t &amp; u</b>\n  <_1_c/>\n  <x_y/>\n  <d>\n    <item>1</item>\n  </d>\n  <d/>\n  <_>true</_>\n</root>\n',
    );
    expect(await toXml('[1,{"a":2}]', { root: 'list', indent: '0' })).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<list>\n<item>1</item>\n<item>\n<a>2</a>\n</item>\n</list>\n',
    );
  });

  test('what it writes is well-formed, and comes back', async () => {
    const xml = '<r xmlns:n="urn:x" id="1"><n:a>x</n:a><n:a>y</n:a><b> s </b></r>';
    const { r } = (await toJson(xml)) as { r: object };
    const back = await toXml(JSON.stringify(r), { root: 'r' });
    expect(await canonical(back)).toBe(await canonical(xml));
  });

  test('text XML cannot hold and names XML does not have are refused', async () => {
    await expect(toXml('{"a":"\\u0001"}')).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(toXml('{}', { root: '1 a' })).rejects.toThrow(/root/);
  });
});
