import { writeCsv } from '../../engines/data/csv-writer.ts';
import { invalid } from '../../engines/data/source.ts';
import { openWorkbook, sheetJs, workbookTypes } from '../../engines/data/workbook-reader.ts';
import { chooseSheets, evenRows } from '../../engines/data/workbook.ts';
import { yauzlEngine } from '../../engines/data/zip-parts.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, text } from '../settings.ts';
import { byteOrderMark, delimiterOf, escapeFormulas, writeDelimiter } from './csv-settings.ts';
import { fileNamePart } from './file-name-part.ts';

export default defineTool({
  slug: 'excel-to-csv-converter',
  name: 'Excel to CSV Converter',
  category: 'data',
  description: 'Turns the sheets of Excel and OpenDocument workbooks into CSV tables.',
  accepts: workbookTypes,
  produces: ['csv'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sheetJs, yauzlEngine],
  settings: {
    sheet: text({ describe: 'The sheet by its name or number, or all for a file each.', default: 'all', max: 100 }),
    delimiter: writeDelimiter,
    formulas: choice({
      describe: 'What stands for a computed cell: its value or its formula.',
      of: ['values', 'text'],
      default: 'values',
    }),
    bom: byteOrderMark,
    escape_formulas: escapeFormulas,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { settings, signal } = context;
      const { bom, escape_formulas: escape } = settings;
      const source = { ...input, signal };
      const style = { delimiter: delimiterOf(settings.delimiter), bom, escapeFormulas: escape };
      const workbook = await openWorkbook(source, settings.formulas);
      try {
        const sheets = chooseSheets(source, workbook, settings.sheet);
        let written = 0;
        for (const sheet of sheets) {
          const rows = evenRows(source, sheet)[Symbol.asyncIterator]();
          const first = await rows.next();
          if (first.done === true) continue;
          const name = sheets.length === 1 ? input.stem : `${input.stem}-${fileNamePart(sheet.name)}`;
          await writeCsv(withFirst(first.value, rows), context.output(`${name}.csv`), style, signal);
          written++;
        }
        if (written === 0) throw invalid(source, 'has no cells to write.');
      } finally {
        workbook.close();
      }
    }),
});

async function* withFirst<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first;
  yield* rest;
}
