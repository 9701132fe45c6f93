import { openImageAsPdf, openPdf, pdfLib, writeSelection, type PageSelection } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { defineTool, type InputFacts, type InputFile } from '../define.ts';
import { pageRangesProblem, selectPages } from '../page-ranges.ts';
import { flag, json, type Json } from '../settings.ts';

/** A text for some of the files, by name or by position from 0; a list was made one by position. */
type PerFile = { [file: string]: string };

const perFileSchema = {
  oneOf: [
    { type: 'array', items: { type: ['string', 'null'] } },
    { type: 'object', additionalProperties: { type: 'string' } },
  ],
};

function perFile(
  value: Json,
  problemOf: (text: string) => string | undefined,
): { value: PerFile } | { problem: string } {
  if (typeof value !== 'object' || value === null) return { problem: 'must be a JSON list or object' };
  const entries: [string, string][] = [];
  for (const [key, text] of Object.entries(value)) {
    if (text === null || text === '') continue;
    if (typeof text !== 'string') return { problem: `"${key}" must be a text` };
    const problem = problemOf(text);
    if (problem !== undefined) return { problem: `"${key}": ${problem}` };
    entries.push([key, text]);
  }
  return { value: Object.fromEntries(entries) };
}

/** By name first, then by position. */
function forFile(values: PerFile = {}, { filename }: InputFacts, index: number): string | undefined {
  return [filename, String(index)].filter((key) => Object.hasOwn(values, key)).map((key) => values[key])[0];
}

/** Keys that are no file of the submission: a misspelt name would silently do nothing. */
function unknownFiles(values: PerFile = {}, inputs: readonly InputFacts[]): string[] {
  const known = new Set(inputs.flatMap(({ filename }, index) => [filename, String(index)]));
  const unknown = Object.keys(values).filter((key) => !known.has(key));
  return unknown.map((key) => `"${key}" is neither the name of a file nor its position, counted from 0`);
}

export default defineTool({
  slug: 'pdf-merger',
  name: 'PDF Merger',
  category: 'pdf',
  description: 'Joins PDFs and images into one PDF, in the order they are sent.',
  accepts: ['pdf', 'jpeg', 'png', 'webp', 'tiff'],
  produces: ['pdf'],
  files: { min: 2, max: 100 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf],
  settings: {
    bookmarks: flag({ describe: 'Add a bookmark for every file, with its own bookmarks below.', default: true }),
    passwords: json<PerFile>({
      describe: 'Passwords of encrypted files: by file name, by position from 0, or a list in order.',
      schema: perFileSchema,
      secret: true,
      check: (value) => perFile(value, () => undefined),
    }),
    page_ranges: json<PerFile>({
      describe: 'Pages to take of a file, such as {"report.pdf": "1-3,8"}; all pages of the others.',
      schema: perFileSchema,
      check: (value) => perFile(value, pageRangesProblem),
    }),
  },
  check(settings, inputs) {
    const errors: FieldErrors = {};
    const passwords = unknownFiles(settings.passwords, inputs);
    if (passwords.length > 0) errors['passwords'] = passwords;
    const ranges = unknownFiles(settings.page_ranges, inputs);
    if (ranges.length > 0) errors['page_ranges'] = ranges;
    return errors;
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const selections: PageSelection[] = [];
    for (const [index, input] of inputs.entries()) {
      signal.throwIfAborted();
      const file = await openInput(input, { scratch, signal }, forFile(settings.passwords, input, index));
      const ranges = forFile(settings.page_ranges, input, index);
      const pages =
        ranges === undefined ? [...file.pages.keys()] : selectPages(ranges, file.pages.length, input.filename);
      selections.push({ file, pages, ...(settings.bookmarks ? { bookmark: input.stem } : {}) });
      progress(((index + 1) / inputs.length) * 80);
    }
    await writeSelection(selections, output(`${inputs[0]?.stem}-merged.pdf`));
  },
});

function openInput(
  input: InputFile,
  workspace: { scratch: string; signal: AbortSignal },
  password: string | undefined,
) {
  const { path, filename, type } = input;
  if (type !== 'pdf') return openImageAsPdf(input, workspace);
  return openPdf({ path, filename, scratch: workspace.scratch, password });
}
