import { apacheArrow, openArrow } from '../../engines/data/arrow-table.ts';
import { exportQuery } from '../../engines/data/database-export.ts';
import { loadRows, loadTable } from '../../engines/data/database-tables.ts';
import { chooseColumns } from '../../engines/data/database-query.ts';
import { invalid } from '../../engines/data/source.ts';
import { duckDb, withDatabase } from '../../engines/duckdb.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int, text } from '../settings.ts';
import { escapeFormulas } from './csv-settings.ts';

export default defineTool({
  slug: 'parquet-to-csv-converter',
  name: 'Parquet to CSV Converter',
  category: 'data',
  description: 'Turns Parquet and Arrow tables into CSV, JSON or an Excel workbook; lists and structures become JSON.',
  accepts: ['parquet', 'arrow'],
  produces: ['csv', 'json', 'ndjson', 'xlsx'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [duckDb, apacheArrow],
  settings: {
    format: choice({ describe: 'The format to return.', of: ['csv', 'json', 'ndjson', 'xlsx'], default: 'csv' }),
    columns: text({ describe: 'Names of the columns to keep, separated by commas; all without it.', max: 5000 }),
    limit: int({ describe: 'Rows at most.', min: 1, max: 1_000_000_000 }),
    escape_formulas: escapeFormulas,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { settings, signal, scratch } = context;
      const { format, columns, limit, escape_formulas: escape } = settings;
      const filename = `${input.stem}.${format}`;
      const target = context.output(filename);
      await withDatabase({ scratch, signal, files: [input, { path: target, filename }] }, async (database) => {
        const source = { ...input, signal };
        if (input.type === 'arrow') {
          const { types, rows } = await openArrow(source);
          await loadRows(database, source, rows, 'input', types);
        } else await loadTable(database, source, 'input');
        const list = await chooseColumns(database, source, 'input', columns);
        const query = `SELECT ${list} FROM input${limit === undefined ? '' : ` LIMIT ${limit}`}`;
        const rows = await exportQuery(database, query, {
          format,
          target,
          name: input.stem,
          escapeFormulas: escape,
          signal,
        });
        if (rows === 0 && format === 'ndjson') throw invalid(input, 'has no rows to write as NDJSON.');
      });
    }),
});
