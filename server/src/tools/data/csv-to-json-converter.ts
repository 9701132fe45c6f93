import { csvParse, type JsonLayout, readCsv, writeJson } from '../../engines/csv.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { flag } from '../settings.ts';
import { delimiterOf, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'csv-to-json-converter',
  name: 'CSV to JSON Converter',
  category: 'data',
  description: 'Turns CSV and TSV tables into JSON, or into JSON lines (NDJSON).',
  accepts: ['csv', 'tsv'],
  produces: ['json', 'ndjson'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [csvParse],
  settings: {
    delimiter: readDelimiter,
    header: flag({ describe: 'The first record names the columns; else records become arrays.', default: true }),
    infer_types: flag({ describe: 'Turn numbers, true, false and empty cells into JSON values.', default: true }),
    ndjson: flag({ describe: 'Write one record a line instead of one array.', default: false }),
    pretty: flag({ describe: 'Indent the array for people.', default: true }),
    encoding: readEncoding,
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const onBytes = byteProgress(context);
    const layout: JsonLayout = settings.ndjson ? 'ndjson' : settings.pretty ? 'pretty' : 'compact';
    for (const { path, filename, stem } of inputs) {
      const { encoding, header, infer_types: inferTypes } = settings;
      const rows = readCsv({ path, filename, encoding, delimiter: delimiterOf(settings.delimiter), signal, onBytes });
      const target = output(`${stem}.${settings.ndjson ? 'ndjson' : 'json'}`);
      const count = await writeJson(rows, target, { layout, header, inferTypes, signal });
      // JSON has an empty array to say so; of NDJSON nothing would be left but an empty file.
      if (count === 0 && settings.ndjson) {
        throw new Failure('invalid_input', `${filename} has no records.`, { file: filename });
      }
    }
  },
});
