import { writeFile } from 'node:fs/promises';
import { csvLine } from './data/csv-writer.ts';
import type { PdfFile } from './pdf/document.ts';
import type { FieldReport, FieldValue } from './pdf/form-values.ts';

export type { FieldReport, FieldValue } from './pdf/form-values.ts';

/** The fields of a form and what they hold. @throws Failure `invalid_input` for a file without fields. */
export async function readFields(file: PdfFile): Promise<FieldReport[]> {
  const values = await import('./pdf/form-values.ts');
  return values.readFields(file);
}

/** Fills fields in, in place; see `pdf/form-values.ts`. */
export async function fillFields(
  file: PdfFile,
  values: Readonly<Record<string, FieldValue>>,
  options: { draw: boolean },
): Promise<void> {
  const form = await import('./pdf/form-values.ts');
  await form.fillFields(file, values, options);
}

export type FormFormat = 'json' | 'csv' | 'fdf';

/** Writes the fields of a form. @param filename of the PDF, which the JSON and the FDF name. */
export function writeFields(
  fields: readonly FieldReport[],
  format: FormFormat,
  { filename, path }: { filename: string; path: string },
): Promise<void> {
  if (format === 'json') return writeFile(path, `${JSON.stringify({ file: filename, fields }, null, 2)}\n`);
  return writeFile(path, format === 'csv' ? asCsv(fields) : asFdf(fields, filename));
}

function asCsv(fields: readonly FieldReport[]): string {
  const rows = fields.map(({ name, type, value, options, page, required, read_only, description }) => [
    name,
    type,
    listed(value),
    (options ?? []).map((option) => option.value).join('; '),
    page === null ? '' : String(page),
    String(required),
    String(read_only),
    description ?? '',
  ]);
  const header = ['name', 'type', 'value', 'options', 'page', 'required', 'read_only', 'description'];
  // What somebody typed into a form is opened in a spreadsheet.
  return [header, ...rows].map((row) => csvLine(row, { delimiter: ',', escapeFormulas: true })).join('');
}

function listed(value: FieldReport['value']): string {
  if (value === null) return '';
  return Array.isArray(value) ? value.join('; ') : String(value);
}

/** The form data format of the PDF standard, with the names of fields in full, as pdftk writes it. */
function asFdf(fields: readonly FieldReport[], filename: string): string {
  const entries = fields
    .filter(({ type }) => type !== 'button' && type !== 'signature')
    .map(({ name, type, value, on_state }) => {
      const isButton = type === 'checkbox' || type === 'radio';
      const state = value === true ? (on_state ?? 'Yes') : typeof value === 'string' ? value : 'Off';
      return `<< /T ${fdfText(name)} /V ${isButton ? fdfName(state) : fdfValue(value)} >>`;
    });
  return [
    '%FDF-1.2',
    '1 0 obj',
    `<< /FDF << /F ${fdfText(filename)} /Fields [`,
    ...entries,
    '] >> >>',
    'endobj',
    'trailer',
    '<< /Root 1 0 R >>',
    '%%EOF',
    '',
  ].join('\n');
}

function fdfValue(value: FieldReport['value']): string {
  if (Array.isArray(value)) return `[${value.map(fdfText).join(' ')}]`;
  return fdfText(value === null ? '' : String(value));
}

/** ASCII as it is, everything else as UTF-16 in hexadecimal digits. */
function fdfText(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return `(${text.replaceAll(/[\\()]/g, String.raw`\$&`)})`;
  return `<feff${Buffer.from(text, 'utf16le').swap16().toString('hex')}>`;
}

function fdfName(name: string): string {
  const bytes = [...Buffer.from(name, 'utf8')];
  const isPlain = (byte: number) => byte > 0x20 && byte < 0x7f && !'#/%()<>[]{}'.includes(String.fromCodePoint(byte));
  const shown = bytes.map((byte) =>
    isPlain(byte) ? String.fromCodePoint(byte) : `#${byte.toString(16).padStart(2, '0')}`,
  );
  return `/${shown.join('')}`;
}
