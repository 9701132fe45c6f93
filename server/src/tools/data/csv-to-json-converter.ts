import { csvParse, type JsonLayout, readCsv, writeJson } from '../../engines/csv.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { choice, flag } from '../settings.ts';

const delimiters = { auto: 'auto', ',': ',', ';': ';', tab: '\t', '|': '|' } as const;

const encodings = [
  'auto',
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-2',
  'iso-8859-15',
  'windows-1250',
  'windows-1251',
  'windows-1253',
  'windows-1254',
  'koi8-r',
  'macintosh',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
] as const;

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
    delimiter: choice({
      describe: 'What stands between two columns; auto looks at the first records.',
      of: Object.keys(delimiters) as (keyof typeof delimiters)[],
      default: 'auto',
    }),
    header: flag({ describe: 'The first record names the columns; else records become arrays.', default: true }),
    infer_types: flag({ describe: 'Turn numbers, true, false and empty cells into JSON values.', default: true }),
    ndjson: flag({ describe: 'Write one record a line instead of one array.', default: false }),
    pretty: flag({ describe: 'Indent the array for people.', default: true }),
    encoding: choice({
      describe: 'How the text is encoded; auto tells UTF-8, UTF-16 and windows-1252 apart.',
      of: encodings,
      default: 'auto',
    }),
  },
  async run({ inputs, settings, output, signal, progress }) {
    const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let read = 0;
    const onBytes = (count: number) => {
      read += count;
      progress((read / total) * 100);
    };
    const layout: JsonLayout = settings.ndjson ? 'ndjson' : settings.pretty ? 'pretty' : 'compact';
    for (const { path, filename, stem } of inputs) {
      const { encoding, header, infer_types: inferTypes } = settings;
      const rows = readCsv({ path, filename, encoding, delimiter: delimiters[settings.delimiter], signal, onBytes });
      const target = output(`${stem}.${settings.ndjson ? 'ndjson' : 'json'}`);
      const count = await writeJson(rows, target, { layout, header, inferTypes, signal });
      // JSON has an empty array to say so; of NDJSON nothing would be left but an empty file.
      if (count === 0 && settings.ndjson) {
        throw new Failure('invalid_input', `${filename} has no records.`, { file: filename });
      }
    }
  },
});
