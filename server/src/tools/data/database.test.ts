import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Bool,
  Decimal,
  Int64,
  TimestampNanosecond,
  Utf8,
  tableFromArrays,
  tableToIPC,
  Vector,
  makeData,
  vectorFromArray,
  Table,
} from 'apache-arrow';
import { DuckDBInstance } from '@duckdb/node-api';
import { read, utils, write } from '@e965/xlsx';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import type { Tool } from '../define.ts';
import csvToParquet from './csv-to-parquet-converter.ts';
import queryRunner from './data-query-runner.ts';
import parquetToCsv from './parquet-to-csv-converter.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrun-database-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inFolder(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

async function run(tool: unknown, paths: string[], form: Record<string, string> = {}): Promise<Buffer> {
  await using result = await runTool(tool as Tool, paths, form);
  return await readFile(result.outputs[0]!.path);
}

/** Another DuckDB, without any of our settings. */
async function inspect(sql: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  await connection.run("SET TimeZone = 'UTC'");
  return (await connection.runAndReadAll(sql)).getRowObjectsJson();
}

const typed =
  'id;zip;n;ok;day;at;zoned;long;mixed;empty\n1;00123;-2.50;true;2024-02-29;2024-01-02T03:04:05.5;2024-01-02 03:04:05+01:00;12345678901234567890;1;\n' +
  '9223372036854775807;4;3;FALSE;2024-03-01;2024-01-02 03:04;2024-01-02T03:04:05Z;1;x;\n';

async function parquetOf(csv: string | Buffer, form: Record<string, string> = {}): Promise<string> {
  const path = await inFolder('t.csv', csv);
  return await inFolder('t.parquet', await run(csvToParquet, [path], form));
}

describe('csv-to-parquet-converter', () => {
  test('columns have types that lose nothing', async () => {
    const path = await parquetOf(typed);
    const types = (await inspect(`DESCRIBE SELECT * FROM '${path}'`)) as Record<string, string>[];
    expect(types.map(({ column_name, column_type }) => `${column_name} ${column_type}`)).toEqual([
      'id BIGINT',
      'zip VARCHAR',
      'n DOUBLE',
      'ok BOOLEAN',
      'day DATE',
      'at TIMESTAMP',
      'zoned TIMESTAMP WITH TIME ZONE',
      'long VARCHAR',
      'mixed VARCHAR',
      'empty VARCHAR',
    ]);
    const [first] = await inspect(`SELECT zip, n, long, empty, zoned::VARCHAR z, "at"::VARCHAR a FROM '${path}'`);
    expect(first).toEqual({
      zip: '00123',
      n: -2.5,
      long: '12345678901234567890',
      empty: null,
      z: '2024-01-02 02:04:05+00',
      a: '2024-01-02 03:04:05.5',
    });
  });

  test('all text, row groups and compression as told', async () => {
    const rows = Array.from({ length: 5000 }, (_, n) => `${n},"a ""${n}\n"`);
    const path = await parquetOf(`n,t\n${rows.join('\n')}\n`, {
      infer_types: 'false',
      row_group: '2048',
      compression: 'gzip',
    });
    expect(
      await inspect(`SELECT count(DISTINCT row_group_id)::INT g, min(compression) c FROM parquet_metadata('${path}')`),
    ).toEqual([{ g: 3, c: 'GZIP' }]);
    expect(await inspect(`SELECT count(*)::INT c, min(typeof(n)) t, max(t) m FROM '${path}'`)).toEqual([
      { c: 5000, t: 'VARCHAR', m: 'a "999\n' },
    ]);
  });

  test('rows that are longer or shorter, names that differ by case, another encoding', async () => {
    const path = await parquetOf(Buffer.from('\uFEFFid\tID\r\n1\r\n2\t3\t4\r\n', 'utf16le'), { delimiter: 'tab' });
    expect(await inspect(`SELECT * FROM '${path}'`)).toEqual([
      { id: '1', ID_2: null, column_3: null },
      { id: '2', ID_2: '3', column_3: '4' },
    ]);
  });

  test('nested JSON stays nested', async () => {
    const json = await inFolder('n.json', '[{"a":{"b":[1,2]},"c":"x"},{"c":"00123"}]');
    const path = await inFolder('n.parquet', await run(csvToParquet, [json]));
    expect(await inspect(`SELECT a.b[2]::INT b, c FROM '${path}'`)).toEqual([
      { b: 2, c: 'x' },
      { b: null, c: '00123' },
    ]);
    const text = await run(csvToParquet, [json], { infer_types: 'false' });
    expect(await inspect(`SELECT "a.b", c FROM '${await inFolder('m.parquet', text)}' LIMIT 1`)).toEqual([
      { 'a.b': '[1,2]', c: 'x' },
    ]);
  });

  test('an empty table and broken JSON are told', async () => {
    await expect(parquetOf('\n')).rejects.toMatchObject({ code: 'invalid_input' });
    const broken = await inFolder('b.json', '[{"a":1},{"a":]');
    await expect(run(csvToParquet, [broken])).rejects.toMatchObject({ code: 'invalid_input', file: 'b.json' });
  });
});

describe('parquet-to-csv-converter', () => {
  const make = (sql: string, name = 'made.parquet') =>
    inspect(`COPY (${sql}) TO '${join(folder, name)}' (FORMAT parquet)`).then(() => join(folder, name));
  const odd =
    "SELECT 12345678901234567.89::DECIMAL(38,2) d, TIMESTAMP_NS '2024-01-02 03:04:05.123456789' ns, '2024-01-02 03:04:05+02'::TIMESTAMPTZ tz, " +
    "{'a': [1, 2], 'b': 'x,y'} s, 'x'::BLOB bin, '=1+1' f, NULL::INT n, 'nan'::DOUBLE nan, '' e";

  test('CSV with every digit, nested columns as JSON', async () => {
    const path = await make(odd);
    expect(String(await run(parquetToCsv, [path], { escape_formulas: 'true' }))).toBe(
      'd,ns,tz,s,bin,f,n,nan,e\n12345678901234567.89,2024-01-02 03:04:05.123456789,2024-01-02 01:04:05+00,' +
        '"{""a"":[1,2],""b"":""x,y""}",eA==,\'=1+1,,nan,""\n',
    );
  });

  test('JSON, NDJSON and a workbook; columns and limit', async () => {
    const path = await make(`${odd} UNION ALL BY NAME ${odd}`);
    const json = JSON.parse(
      String(await run(parquetToCsv, [path], { format: 'json', limit: '1', columns: 's, F,nan' })),
    ) as unknown;
    expect(json).toEqual([{ s: { a: [1, 2], b: 'x,y' }, f: '=1+1', nan: 'nan' }]);
    expect(String(await run(parquetToCsv, [path], { format: 'ndjson', columns: 'n,d' }))).toBe(
      '{"n":null,"d":12345678901234567.89}\n'.repeat(2),
    );
    const book = read(await run(parquetToCsv, [path], { format: 'xlsx', columns: 'd,s,f' }), { type: 'buffer' });
    expect(utils.sheet_to_json(book.Sheets['made']!, { header: 1 })).toEqual([
      ['d', 's', 'f'],
      ...Array.from({ length: 2 }, () => ['12345678901234567.89', '{"a":[1,2],"b":"x,y"}', '=1+1']),
    ]);
    await expect(run(parquetToCsv, [path], { columns: 'nope' })).rejects.toThrow(/it has "d", "ns"/);
  });

  test('no rows and damaged files', async () => {
    const path = await make('SELECT 1 a LIMIT 0');
    expect(String(await run(parquetToCsv, [path]))).toBe('a\n');
    expect(JSON.parse(String(await run(parquetToCsv, [path], { format: 'json' })))).toEqual([]);
    await expect(run(parquetToCsv, [path], { format: 'ndjson' })).rejects.toMatchObject({ code: 'invalid_input' });
    const bytes = await readFile(await make(odd));
    const cut = await inFolder('cut.parquet', Buffer.concat([bytes.subarray(0, 60), bytes.subarray(-40)]));
    await expect(run(parquetToCsv, [cut])).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('Arrow files', async () => {
    const table = new Table({
      id: vectorFromArray([9007199254740993n, null], new Int64()),
      t: vectorFromArray(['00123', 'a,b'], new Utf8()),
      ok: vectorFromArray([true, null], new Bool()),
      at: new Vector([
        makeData({ type: new TimestampNanosecond('UTC'), data: new BigInt64Array([1704164645123456789n, -1n]) }),
      ]),
      d: vectorFromArray(
        [new Uint32Array([250, 0, 0, 0]), new Uint32Array([0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff])],
        new Decimal(2, 10),
      ),
    });
    const path = await inFolder('t.arrow', tableToIPC(table, 'file'));
    expect(String(await run(parquetToCsv, [path]))).toBe(
      'id,t,ok,at,d\n9007199254740993,00123,true,2024-01-02T03:04:05.123456789Z,2.50\n,"a,b",,1969-12-31T23:59:59.999999999Z,-0.01\n',
    );
    expect(String(await run(parquetToCsv, [path], { format: 'ndjson', limit: '1' }))).toBe(
      '{"id":9007199254740993,"t":"00123","ok":true,"at":"2024-01-02T03:04:05.123456789Z","d":2.5}\n',
    );
    const cut = await inFolder('cut.arrow', tableToIPC(tableFromArrays({ a: [1, 2] }), 'file').subarray(0, 100));
    await expect(run(parquetToCsv, [cut])).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

describe('data-query-runner', () => {
  const query = async (sql: string, form: Record<string, string> = {}, files?: string[]) => {
    const paths = files ?? [await inFolder('My Sales 1.csv', 'city,n,zip\nKöln,1,00123\nBonn,2,4\nKöln,3,5\n')];
    return String(await run(queryRunner, paths, { sql, ...form }));
  };

  test('joins tables called after their files', async () => {
    const xlsx = utils.book_new();
    utils.book_append_sheet(
      xlsx,
      utils.aoa_to_sheet([
        ['city', 'mayor'],
        ['Bonn', 'B'],
      ]),
      'x',
    );
    const files = [
      await inFolder('sales.csv', 'city,n\nKöln,1\nBonn,2\nKöln,3\n'),
      await inFolder('mayors.xlsx', write(xlsx, { type: 'buffer', bookType: 'xlsx' }) as Buffer),
      await inFolder('facts.json', '[{"city":"Bonn","area":{"km2":141}}]'),
    ];
    expect(
      await query(
        'SELECT city, mayor, area.km2 FROM sales JOIN mayors USING (city) JOIN facts USING (city);',
        {},
        files,
      ),
    ).toBe('city,mayor,km2\nBonn,B,141\n');
  });

  test('formats, limit, leading zeros, and a comment at the end', async () => {
    expect(await query('SELECT zip FROM input ORDER BY n -- done')).toBe('zip\n00123\n4\n5\n');
    expect(await query('FROM my_sales_1', { limit: '1', format: 'ndjson' })).toBe(
      '{"city":"Köln","n":1,"zip":"00123"}\n',
    );
    expect(await query("WITH x AS (SELECT '=a' f, sum(n) s FROM input) FROM x", { escape_formulas: 'true' })).toBe(
      "f,s\n'=a,6\n",
    );
    expect((await query('SELECT 1 a', { format: 'parquet' })).slice(0, 4)).toBe('PAR1');
    expect((await query('SELECT 1 a', { format: 'xlsx' })).slice(0, 2)).toBe('PK');
  });

  test.each([
    "SELECT * FROM read_csv('/etc/hostname')",
    "SELECT * FROM read_text('/etc/hostname')",
    "SELECT * FROM '/etc/hostname'",
    "SELECT * FROM glob('/etc/*')",
    "SELECT * FROM read_parquet('https://example.com/x.parquet')",
    "COPY input TO '/tmp/x.csv'",
    "ATTACH '/tmp/x.db'",
    'INSTALL httpfs',
    'LOAD httpfs',
    'PRAGMA database_list',
    'SET threads = 64',
    'DROP TABLE my_sales_1',
    'CREATE TABLE x AS SELECT 1',
    'INSERT INTO my_sales_1 VALUES (1, 2, 3) RETURNING *',
    'SELECT 1; SELECT 2',
    'SELECT ?',
    "SELECT getenv('HOME')",
    "EXPORT DATABASE '/tmp/x'",
    'CALL pragma_version()',
    'SELEC 1',
    'SELECT nope FROM input',
    "SELECT 1) TO '/tmp/x.csv' --",
    '',
    '-- nothing',
  ])('refuses %s', async (sql) => {
    await expect(query(sql)).rejects.toThrow();
  });

  test('errors are sentences without paths', async () => {
    const error: unknown = await query('SELECT nope FROM input').catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('nope') as string });
    expect(String(error)).not.toContain(folder);
  });

  test('a query that never ends stops when the run does', async () => {
    const stop = AbortSignal.timeout(700);
    const path = await inFolder('a.csv', 'a,b\n1,2\n');
    const endless = { sql: 'SELECT count(*) FROM range(1000000000) a, range(1000000000) b' };
    await expect(runTool(queryRunner, [path], endless, stop)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});
