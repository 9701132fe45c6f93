import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import jsonValidator from './json-validator.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-schema-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function validate(json: string, schema?: unknown, form: Record<string, string> = {}) {
  const contents = [
    json,
    ...(schema === undefined ? [] : [typeof schema === 'string' ? schema : JSON.stringify(schema)]),
  ];
  const paths = await Promise.all(
    contents.map(async (content, index) => {
      const path = join(folder, index === 0 ? 'data.json' : 'schema.json');
      await writeFile(path, content);
      return path;
    }),
  );
  await using result = await runTool(jsonValidator, paths, form);
  expect(result.outputs.map(({ filename }) => filename)).toEqual(['data-report.json']);
  return JSON.parse(await readFile(result.outputs[0]!.path, 'utf8')) as unknown;
}

test('a valid file, and keys that are repeated', async () => {
  expect(await validate('{"a":1,\n"a":2}')).toEqual({
    file: 'data.json',
    valid: true,
    errors: [],
    warnings: [{ path: '/a', line: 2, column: 1, message: 'the key is repeated in its object' }],
  });
});

test('a mistake in the text is a report with line and column', async () => {
  expect(await validate('{"a":1,\n "b":}')).toMatchObject({
    valid: false,
    errors: [{ path: '', line: 2, column: 6, message: '} stands where a value is expected' }],
  });
});

const person = {
  type: 'object',
  properties: { name: { type: 'string' }, 'a/b': { enum: [1, 2] }, mail: { format: 'email' } },
  required: ['name'],
  additionalProperties: false,
};

test('errors by a schema have their path and line', async () => {
  const json = '{\n "name": 5,\n "a/b": 3,\n "mail": "x",\n "more": 1\n}';
  const report = await validate(json, person);
  expect(report).toMatchObject({ valid: false, schema: 'schema.json', draft: '2020' });
  const { errors } = report as { errors: { path: string; line: number; message: string }[] };
  expect(errors.map(({ path, line, message }) => `${path} ${line} ${message}`).toSorted()).toEqual([
    ' 1 must NOT have additional properties: "more"',
    '/a~1b 3 must be equal to one of the allowed values: 1, 2',
    '/mail 4 must match format "email"',
    '/name 2 must be string',
  ]);
  expect(((await validate(json, person, { all_errors: 'false' })) as { errors: unknown[] }).errors).toHaveLength(1);
  expect(await validate('{"name":"x"}', person)).toMatchObject({ valid: true, errors: [] });
});

test.each([
  ['http://json-schema.org/draft-07/schema#', '7'],
  ['https://json-schema.org/draft/2019-09/schema', '2019'],
  ['https://json-schema.org/draft/2020-12/schema', '2020'],
])('%s is followed', async ($schema, draft) => {
  expect(await validate('[1,"x"]', { $schema, type: 'array' })).toMatchObject({ valid: true, draft });
});

test('prefixItems means something in 2020-12 only', async () => {
  const schema = { prefixItems: [{ type: 'string' }] };
  expect(await validate('[1]', schema)).toMatchObject({ valid: false });
  expect(await validate('[1]', schema, { draft: '7' })).toMatchObject({ valid: true });
});

test.each([
  ['a reference to another document', { $ref: 'https://example.com/schema.json' }],
  ['a type that does not exist', { type: 'strin' }],
  ['an unknown draft', { $schema: 'http://json-schema.org/draft-03/schema#' }],
  ['no object', '[1]'],
  ['no JSON', '{'],
  ['a broken pattern', { pattern: '(' }],
])('a schema with %s is refused', async (_name, schema) => {
  await expect(validate('1', schema)).rejects.toMatchObject({ code: 'invalid_input', file: 'schema.json' });
});
