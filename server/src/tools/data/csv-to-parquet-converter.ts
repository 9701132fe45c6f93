import { csvParse } from '../../engines/csv.ts';
import { loadTable } from '../../engines/data/database-tables.ts';
import { duckDb, identifier, literal, withDatabase } from '../../engines/duckdb.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, int } from '../settings.ts';
import { delimiterOf, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'csv-to-parquet-converter',
  name: 'CSV to Parquet Converter',
  category: 'data',
  description: 'Turns CSV, TSV and JSON tables into Parquet with the types their columns can have without a loss.',
  accepts: ['csv', 'tsv', 'json', 'ndjson'],
  produces: ['parquet'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [csvParse, duckDb],
  settings: {
    compression: choice({
      describe: 'How the columns are compressed.',
      of: ['zstd', 'snappy', 'gzip', 'none'],
      default: 'zstd',
    }),
    row_group: int({ describe: 'Rows a row group.', min: 2048, max: 10_000_000, default: 122_880 }),
    infer_types: flag({
      describe: 'Find numbers, dates, true and false; else every column is text and an empty cell is empty text.',
      default: true,
    }),
    delimiter: readDelimiter,
    encoding: readEncoding,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { settings, signal, scratch } = context;
      const { encoding, infer_types: inferTypes } = settings;
      const target = context.output(`${input.stem}.parquet`);
      const files = [input, { path: target, filename: `${input.stem}.parquet` }];
      await withDatabase({ scratch, signal, files }, async (database) => {
        const source = { ...input, signal, encoding, delimiter: delimiterOf(settings.delimiter) };
        const rows = await loadTable(database, source, 'input', inferTypes);
        const compression = settings.compression === 'none' ? 'uncompressed' : settings.compression;
        const how = `FORMAT parquet, COMPRESSION ${compression}, ROW_GROUP_SIZE ${settings.row_group}`;
        await database.run(`COPY ${identifier('input')} TO ${literal(target)} (${how})`);
        const [written] = await database.rows(`SELECT count(*)::VARCHAR AS n FROM read_parquet(${literal(target)})`);
        if (Number(written?.['n']) !== rows)
          throw new Failure('engine_failed', `"${input.filename}" was not written whole.`);
      });
    }),
});
