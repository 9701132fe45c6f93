import { writeCsv } from '../../engines/data/csv-writer.ts';
import { jsonPath, jsonTable } from '../../engines/data/json-records.ts';
import { invalid } from '../../engines/data/source.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { flag, text } from '../settings.ts';
import { byteOrderMark, delimiterOf, escapeFormulas, writeDelimiter } from './csv-settings.ts';

export default defineTool({
  slug: 'json-to-csv-converter',
  name: 'JSON to CSV Converter',
  category: 'data',
  description: 'Turns JSON records or JSON lines (NDJSON) into a CSV table with a column for every key.',
  accepts: ['json', 'ndjson'],
  produces: ['csv'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [jsonPath],
  settings: {
    delimiter: writeDelimiter,
    flatten: flag({
      describe: 'Make columns such as address.city of objects inside records; else they become cells of JSON.',
      default: true,
    }),
    path: text({
      describe: 'JSONPath of the records, such as $.data.items.',
      default: '$',
      max: 500,
      pattern: /^\$/,
      patternHint: 'must begin with $',
    }),
    bom: byteOrderMark,
    escape_formulas: escapeFormulas,
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const { flatten, path, bom, escape_formulas: escape } = settings;
    const onBytes = byteProgress(context, 2);
    for (const input of inputs) {
      const source = { ...input, signal, onBytes, lines: input.type === 'ndjson' };
      const style = { delimiter: delimiterOf(settings.delimiter), bom, escapeFormulas: escape };
      const count = await writeCsv(jsonTable(source, { flatten, path }), output(`${input.stem}.csv`), style, signal);
      if (count === 0) throw invalid(input, 'has no records.');
    }
  },
});
