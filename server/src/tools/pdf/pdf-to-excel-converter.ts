import { tablesOf } from '../../engines/page-structure/page.ts';
import type { DocumentStructure } from '../../engines/page-structure/types.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { type TextTable, textTable, writeCsvTables, writeWorkbook } from '../../engines/table-workbook.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice, flag, text } from '../settings.ts';
import { readStructure } from './read-structure.ts';

export default defineTool({
  slug: 'pdf-to-excel-converter',
  name: 'PDF to Excel Converter',
  category: 'pdf',
  description: 'Finds the tables of a PDF and writes them to a workbook or to CSV, numbers as numbers.',
  accepts: ['pdf'],
  produces: ['xlsx', 'csv', 'txt', 'tsv'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [pdfium],
  settings: {
    format: choice({ describe: 'An Excel workbook, or CSV.', of: ['xlsx', 'csv'], default: 'xlsx' }),
    pages: pageRanges({ describe: 'Pages to look at, such as 1-3,8.', default: 'all' }),
    mode: choice({
      describe: 'Find tables by their lines (lattice), by what is aligned in columns (stream), or by both (auto).',
      of: ['lattice', 'stream', 'auto'],
      default: 'auto',
    }),
    one_sheet: flag({ describe: 'Put all tables of a file on one sheet, or into one CSV.', default: false }),
    password: text({ describe: 'The password of encrypted files.', secret: true, max: 127 }),
  },
  async run(context) {
    const { inputs, settings, output, progress } = context;
    const { format, mode, one_sheet: oneSheet } = settings;
    for (const [index, input] of inputs.entries()) {
      const { filename, stem } = input;
      const document = await readStructure(input, context, {
        tables: mode,
        pictures: false,
        onProgress: (fraction) => progress(((index + fraction) / inputs.length) * 100),
      });
      const tables = namedTables(document);
      if (tables.length === 0) throw noTable(filename, mode);
      if (format === 'xlsx') await writeWorkbook(tables, output(`${stem}.xlsx`), { oneSheet });
      else if (oneSheet || tables.length === 1) await writeCsvTables(tables, output(`${stem}.csv`));
      else {
        for (const [number, table] of tables.entries())
          await writeCsvTables([table], output(`${stem}-${number + 1}.csv`));
      }
    }
  },
});

/** Names are unique: a page that was asked for twice counts on. */
function namedTables({ pages }: DocumentStructure): TextTable[] {
  const taken = new Map<string, number>();
  return pages.flatMap((page) =>
    tablesOf(page).map((table) => {
      const name = `Page ${page.index + 1}`;
      const count = (taken.get(name) ?? 0) + 1;
      taken.set(name, count);
      return textTable(table, count === 1 ? name : `${name} (${count})`);
    }),
  );
}

const searched = { lattice: ' with lines', stream: ' with aligned columns', auto: '' };

function noTable(file: string, mode: keyof typeof searched): Failure {
  return new Failure('invalid_input', `No table${searched[mode]} was found in ${file}.`, { file });
}
