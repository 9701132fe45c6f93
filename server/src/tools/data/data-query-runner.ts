import { csvParse } from '../../engines/csv.ts';
import { exportQuery } from '../../engines/data/database-export.ts';
import { loadQueryTables, readOnlyQuery } from '../../engines/data/database-query.ts';
import { duckDb, withDatabase } from '../../engines/duckdb.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { choice, int, text } from '../settings.ts';
import { escapeFormulas } from './csv-settings.ts';

export default defineTool({
  slug: 'data-query-runner',
  name: 'Data Query Runner',
  category: 'data',
  description: 'Runs one SQL query over tables: each is called after its file, and the first is also called input.',
  accepts: ['csv', 'tsv', 'json', 'ndjson', 'parquet', 'xlsx', 'encrypted_office'],
  produces: ['csv', 'json', 'ndjson', 'parquet', 'xlsx'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [csvParse, duckDb],
  settings: {
    sql: text({
      describe: 'One SELECT of DuckDB SQL, such as SELECT city, sum(n) FROM input GROUP BY city.',
      required: true,
      max: 20_000,
    }),
    format: choice({
      describe: 'The format of the result.',
      of: ['csv', 'json', 'ndjson', 'parquet', 'xlsx'],
      default: 'csv',
    }),
    limit: int({ describe: 'Rows of the result at most.', min: 1, max: 10_000_000, default: 100_000 }),
    escape_formulas: escapeFormulas,
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const { sql, format, limit } = settings;
    const filename = `result.${format}`;
    const target = output(filename);
    await withDatabase({ scratch, signal, files: [...inputs, { path: target, filename }] }, async (database) => {
      await loadQueryTables(
        database,
        inputs.map((input) => ({ ...input, signal })),
        progress,
      );
      const query = await readOnlyQuery(database, sql);
      const options = { format, target, name: 'result', escapeFormulas: settings.escape_formulas, signal };
      const rows = await exportQuery(database, `SELECT * FROM (${query}\n) LIMIT ${limit}`, options);
      if (rows === 0 && format === 'ndjson')
        throw new Failure('invalid_input', 'The query has no rows to write as NDJSON.');
    });
  },
});
