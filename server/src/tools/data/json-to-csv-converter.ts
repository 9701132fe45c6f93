import type { Row } from '../../engines/csv.ts';
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
      const rows = textRows(input.filename, jsonTable(source, { flatten, path }));
      const count = await writeCsv(rows, output(`${input.stem}.csv`), style, signal);
      if (count === 0) throw invalid(input, 'has no records.');
    }
  },
});

/** What JSON can escape but no text file holds. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const notText = /[\x00-\x06\x0e-\x19\x1c-\x1f]/;

async function* textRows(filename: string, rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  for await (const row of rows) {
    const cell = row.find((text) => notText.test(text));
    if (cell !== undefined) {
      const code = notText.exec(cell)?.[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
      const shown = cell.slice(0, 20).replaceAll(/\p{C}/gu, '?');
      throw invalid({ filename }, `has a character (U+${code}) in "${shown}" that CSV cannot hold.`);
    }
    yield row;
  }
}
