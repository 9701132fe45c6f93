import { isBlankPage } from '../../engines/visible-area.ts';
import { hasFields } from '../../engines/pdf-edit.ts';
import { pdfLib, writeSelection, type PdfFile } from '../../engines/pdf-lib.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { pageRanges } from '../page-ranges.ts';
import { flag } from '../settings.ts';
import { chosenPages, openInput, password } from './edit-pdf.ts';

interface Settings {
  pages: string | undefined;
  blank: boolean;
  password: string | undefined;
}

export default defineTool({
  slug: 'pdf-page-remover',
  name: 'PDF Page Remover',
  category: 'pdf',
  description: 'Removes pages from a PDF: those you name, those that are blank, or both.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [pdfLib, pdfium, qpdf],
  settings: {
    pages: pageRanges({ describe: 'The pages to remove; required unless blank is true.' }),
    blank: flag({
      describe: 'Remove pages that show nothing at all; one faint mark or form field keeps a page.',
      default: false,
    }),
    password,
  },
  check: ({ pages, blank }) => (pages === undefined && !blank ? { pages: ['is required unless blank is true'] } : {}),
  run: (context) =>
    eachInput(context, async (input) => {
      const file = await openInput(input, context);
      const removed = new Set(context.settings.pages === undefined ? [] : chosenPages(context.settings.pages, file));
      if (context.settings.blank) for (const page of await blankPages(input, file, context)) removed.add(page);
      const pages = [...file.pages.keys()].filter((page) => !removed.has(page));
      if (pages.length === 0) {
        const message = `Nothing would be left of ${input.filename}: every page is to be removed.`;
        throw new Failure('invalid_input', message, { file: input.filename });
      }
      context.log(`${removed.size} of ${file.pages.length} pages removed`);
      await writeSelection([{ file, pages }], context.output(`${input.stem}.pdf`));
    }),
});

function blankPages(
  input: InputFile,
  file: PdfFile,
  { inputs, scratch, settings, signal, progress }: ToolContext<Settings>,
): Promise<number[]> {
  const { path, filename } = input;
  const before = inputs.indexOf(input);
  return readPdf({ path, filename, scratch, password: settings.password }, async (reader) => {
    // The two libraries read a damaged file differently: the numbers of one would remove pages of the other.
    if (reader.pageCount !== file.pages.length) {
      throw new Failure('invalid_input', `${filename} is damaged: its pages cannot be told apart.`, { file: filename });
    }
    const blank: number[] = [];
    for (const page of file.pages.keys()) {
      signal.throwIfAborted();
      progress(((before + (page / file.pages.length) * 0.9) / inputs.length) * 100);
      if (isBlankPage(reader, page) && !(await hasFields(file, page))) blank.push(page);
    }
    return blank;
  });
}
