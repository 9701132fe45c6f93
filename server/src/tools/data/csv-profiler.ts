import { csvParse } from '../../engines/csv.ts';
import { loadTable } from '../../engines/data/database-tables.ts';
import { profileHtml, profileTable } from '../../engines/data/profile.ts';
import { writeText } from '../../engines/data/source.ts';
import { duckDb, withDatabase } from '../../engines/duckdb.ts';
import { defineTool } from '../define.ts';
import { choice, int } from '../settings.ts';
import { delimiterOf, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'csv-profiler',
  name: 'CSV Profiler',
  category: 'data',
  description: 'Tells what the columns of a table hold: types, empty cells, ranges, averages, frequent values.',
  accepts: ['csv', 'tsv', 'parquet', 'xlsx', 'encrypted_office'],
  produces: ['json', 'html'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [csvParse, duckDb],
  settings: {
    sample: int({
      describe: 'Rows to look at, chosen by chance; 0 looks at all.',
      min: 0,
      max: 100_000_000,
      default: 0,
    }),
    format: choice({
      describe: 'JSON for programs, a page for people, or both.',
      of: ['both', 'json', 'html'],
      default: 'both',
    }),
    delimiter: readDelimiter,
    encoding: readEncoding,
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const { sample, format, encoding } = settings;
    for (const [index, input] of inputs.entries()) {
      const profile = await withDatabase({ scratch, signal, files: [input] }, async (database) => {
        const source = { ...input, signal, encoding, delimiter: delimiterOf(settings.delimiter) };
        const rows = await loadTable(database, source, 'input');
        const table = { file: input.filename, table: 'input', rows, sample };
        return await profileTable(database, table, (part) =>
          progress(((index + (1 + part) / 2) / inputs.length) * 100),
        );
      });
      const stem = `${input.stem}-profile`;
      if (format !== 'html') await writeText(output(`${stem}.json`), [`${JSON.stringify(profile, null, 2)}\n`], signal);
      if (format !== 'json') await writeText(output(`${stem}.html`), [profileHtml(profile)], signal);
    }
  },
});
