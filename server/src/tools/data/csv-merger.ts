import { csvParse } from '../../engines/csv.ts';
import { mergeTables } from '../../engines/data/csv-tables.ts';
import { writeCsv } from '../../engines/data/csv-writer.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, flag } from '../settings.ts';
import { byteOrderMark, delimiterOf, escapeFormulas, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'csv-merger',
  name: 'CSV Merger',
  category: 'data',
  description: 'Puts the rows of several tables into one; columns meet by name, in whatever order they are.',
  accepts: ['csv', 'tsv'],
  produces: ['csv'],
  files: { min: 2, max: 100 },
  timeoutSeconds: 600,
  engines: [csvParse],
  settings: {
    mode: choice({
      describe: 'Which columns to keep: all of them (union), or those every table has (intersect).',
      of: ['union', 'intersect'],
      default: 'union',
    }),
    dedupe: flag({ describe: 'Keep one of rows that are the same.', default: false }),
    add_source: flag({ describe: 'Add a column with the name of the file a row came from.', default: false }),
    delimiter: readDelimiter,
    encoding: readEncoding,
    bom: byteOrderMark,
    escape_formulas: escapeFormulas,
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const { mode, dedupe, add_source: addSource, encoding, bom } = settings;
    const onBytes = byteProgress(context);
    const delimiter = delimiterOf(settings.delimiter);
    const sources = inputs.map(({ path, filename }) => ({ path, filename, encoding, delimiter, signal, onBytes }));
    const style = { delimiter: ',', bom, escapeFormulas: settings.escape_formulas };
    await writeCsv(mergeTables(sources, { mode, dedupe, addSource }), output('merged.csv'), style, signal);
  },
});
