import { csvParse, readCsv } from '../../engines/csv.ts';
import { jsonTable } from '../../engines/data/json-records.ts';
import { invalid } from '../../engines/data/source.ts';
import { type SheetSource, writeWorkbook, yazlEngine } from '../../engines/data/workbook-writer.ts';
import { type InputFile, defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, flag } from '../settings.ts';
import { delimiterOf, escapeFormulas, readDelimiter, readEncoding } from './csv-settings.ts';

export default defineTool({
  slug: 'csv-to-excel-converter',
  name: 'CSV to Excel Converter',
  category: 'data',
  description: 'Turns CSV, TSV and JSON tables into Excel workbooks; leading zeros and long numbers stay as they are.',
  accepts: ['csv', 'tsv', 'json'],
  produces: ['xlsx'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [csvParse, yazlEngine],
  settings: {
    merge: choice({
      describe: 'What becomes of several tables: sheets of one workbook, or a workbook each.',
      of: ['sheets', 'files'],
      default: 'files',
    }),
    header_style: flag({ describe: 'Show the first row in bold on grey.', default: true }),
    freeze_header: flag({ describe: 'Keep the first row in sight when the sheet is scrolled.', default: true }),
    infer_types: flag({ describe: 'Make numbers, true and false such cells; else all cells are text.', default: true }),
    delimiter: readDelimiter,
    encoding: readEncoding,
    escape_formulas: escapeFormulas,
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const onBytes = byteProgress(context, inputs.some(({ type }) => type === 'json') ? 2 : 1);
    const style = {
      headerStyle: settings.header_style,
      freezeHeader: settings.freeze_header,
      inferTypes: settings.infer_types,
      escapeFormulas: settings.escape_formulas,
    };
    const toSheet = (input: InputFile): SheetSource => {
      const { path, filename, stem, type } = input;
      const source = { path, filename, signal, onBytes };
      const { delimiter, encoding } = settings;
      const rows =
        type === 'json'
          ? jsonTable(source, { flatten: true })
          : readCsv({ ...source, encoding, delimiter: delimiterOf(delimiter) });
      return { name: stem, rows: notEmpty(rows, input) };
    };
    if (settings.merge === 'sheets') {
      const [first] = inputs;
      const name = inputs.length === 1 && first !== undefined ? first.stem : 'tables';
      await writeWorkbook(inputs.map(toSheet), output(`${name}.xlsx`), style, signal);
      return;
    }
    for (const input of inputs) await writeWorkbook([toSheet(input)], output(`${input.stem}.xlsx`), style, signal);
  },
});

async function* notEmpty<T>(rows: AsyncIterable<T>, input: InputFile): AsyncGenerator<T> {
  let empty = true;
  for await (const row of rows) {
    empty = false;
    yield row;
  }
  if (empty) throw invalid(input, 'has no records.');
}
