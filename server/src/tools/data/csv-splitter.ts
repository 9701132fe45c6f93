import { csvDialect, csvParse } from '../../engines/csv.ts';
import { splitTable } from '../../engines/data/csv-tables.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { flag, int, text } from '../settings.ts';
import { byteOrderMark, delimiterOf, escapeFormulas, readDelimiter, readEncoding } from './csv-settings.ts';
import { fileNamePart } from './file-name-part.ts';

export default defineTool({
  slug: 'csv-splitter',
  name: 'CSV Splitter',
  category: 'data',
  description: 'Cuts a table into files of so many rows, or one file for each value of a column.',
  accepts: ['csv', 'tsv'],
  produces: ['csv'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [csvParse],
  settings: {
    rows: int({ describe: 'Rows a file, the header not counted.', min: 1, max: 1_000_000, default: 10_000 }),
    by_column: text({ describe: 'The name of a column whose values each get a file, whatever rows says.', max: 200 }),
    keep_header: flag({
      describe: 'Begin every file with the header; else the first record is a row like any other.',
      default: true,
    }),
    delimiter: readDelimiter,
    encoding: readEncoding,
    bom: byteOrderMark,
    escape_formulas: escapeFormulas,
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const { rows, by_column: column, keep_header: keepHeader, encoding, bom, escape_formulas: escape } = settings;
    const onBytes = byteProgress(context);
    for (const { path, filename, stem } of inputs) {
      const source = { path, filename, encoding, delimiter: delimiterOf(settings.delimiter), signal, onBytes };
      const { delimiter } = await csvDialect(source);
      const target = (part: string | number) =>
        output(`${stem}-${typeof part === 'number' ? part : fileNamePart(part === '' ? 'empty' : part)}.csv`);
      const style = { delimiter, bom, escapeFormulas: escape };
      await splitTable({ ...source, delimiter }, { rows, column, keepHeader, style, target });
    }
  },
});
