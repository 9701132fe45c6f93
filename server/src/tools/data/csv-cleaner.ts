import { csvDialect, csvParse } from '../../engines/csv.ts';
import { cleanTable } from '../../engines/data/csv-tables.ts';
import { writeCsv } from '../../engines/data/csv-writer.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { flag } from '../settings.ts';
import { byteOrderMark, delimiterOf, escapeFormulas, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'csv-cleaner',
  name: 'CSV Cleaner',
  category: 'data',
  description: 'Makes a table regular: UTF-8, equally long rows, no stray spaces, empty rows or repetitions.',
  accepts: ['csv', 'tsv'],
  produces: ['csv'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [csvParse],
  settings: {
    trim: flag({ describe: 'Remove white space at both ends of every cell.', default: true }),
    dedupe: flag({ describe: 'Keep one of rows that are the same.', default: true }),
    drop_empty: flag({ describe: 'Remove rows without anything in them.', default: true }),
    normalise_headers: flag({ describe: 'Make column names lower case words such as order_date.', default: false }),
    delimiter: readDelimiter,
    encoding: readEncoding,
    bom: byteOrderMark,
    escape_formulas: escapeFormulas,
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const { trim, dedupe, drop_empty: dropEmpty, normalise_headers: normaliseHeaders, encoding, bom } = settings;
    const onBytes = byteProgress(context, 2);
    for (const { path, filename, stem } of inputs) {
      const source = { path, filename, encoding, delimiter: delimiterOf(settings.delimiter), signal, onBytes };
      const { delimiter } = await csvDialect(source);
      const rows = cleanTable({ ...source, delimiter }, { trim, dedupe, dropEmpty, normaliseHeaders });
      await writeCsv(rows, output(`${stem}.csv`), { delimiter, bom, escapeFormulas: settings.escape_formulas }, signal);
    }
  },
});
