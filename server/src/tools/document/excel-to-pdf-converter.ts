import { csvParse } from '../../engines/csv.ts';
import { libreofficeCalc } from '../../engines/libreoffice.ts';
import { printWorkbook } from '../../engines/libreoffice-sheets.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, text } from '../settings.ts';
import { documentPassword } from './document-password.ts';
import { selectSheets } from './sheet-selection.ts';

export default defineTool({
  slug: 'excel-to-pdf-converter',
  name: 'Excel to PDF Converter',
  category: 'document',
  description: 'Turns Excel workbooks, OpenDocument spreadsheets and CSV tables into PDF.',
  accepts: ['xlsx', 'xls', 'ods', 'csv', 'tsv', 'encrypted_office'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [libreofficeCalc, csvParse],
  settings: {
    sheets: text({
      describe: 'Sheets to print, by name or number, such as 1-3,Summary; all leaves hidden ones out.',
      default: 'all',
      min: 1,
    }),
    orientation: choice({
      describe: 'How the pages stand; auto turns a sheet that is wider than its page.',
      of: ['auto', 'portrait', 'landscape'],
      default: 'auto',
    }),
    fit_to_width: flag({ describe: 'Make a wide sheet smaller, so that it is one page wide.', default: true }),
    gridlines: flag({ describe: 'Print lines between the cells, also where the workbook has none.', default: false }),
    password: documentPassword(),
  },
  async run(context) {
    const { settings, output, scratch, signal } = context;
    await eachInput(context, async (input) => {
      await printWorkbook(input, {
        target: output(`${input.stem}.pdf`),
        selectSheets: (sheets) => selectSheets(settings.sheets, sheets, input.filename),
        orientation: settings.orientation,
        fitToWidth: settings.fit_to_width,
        gridlines: settings.gridlines,
        password: settings.password,
        scratch,
        signal,
      });
    });
  },
});
