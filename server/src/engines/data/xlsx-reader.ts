import type { Row } from '../csv.ts';
import { builtInFormat, isDateFormat, isoOfSerial, padZeros } from './cell-formats.ts';
import { type DataSource, invalid, tooLarge } from './source.ts';
import type { Workbook } from './workbook.ts';
import { type XmlToken, XmlTokenizer, attributesOf, decodeXml } from './xml-tokens.ts';
import { type ZipParts, openZipParts } from './zip-parts.ts';

const megabyte = 1024 * 1024;
const maxUnpackedBytes = 2048 * megabyte;
/** Texts of cells are kept in memory, because cells refer to them by number. */
const maxSharedCharacters = 200 * megabyte;
/** One token: a cell holds at most 32,767 characters. */
const maxTokenCharacters = 16 * megabyte;
const maxColumns = 16_384;
const maxRows = 1_048_576;

/** Opens an XLSX workbook; its sheets stream. Undefined for one whose parts are binary (XLSB). */
export async function openXlsx(source: DataSource): Promise<Workbook | undefined> {
  const parts = await openZipParts(source, maxUnpackedBytes);
  try {
    const book = await findBook(source, parts);
    if (book.part.toLowerCase().endsWith('.bin')) {
      parts.close();
      return undefined;
    }
    const { sheets, date1904 } = await readStructure(source, parts, book);
    const formats = await readFormats(source, parts);
    const texts = await readSharedTexts(source, parts);
    const look: Look = { formats, texts, date1904 };
    return {
      sheets: sheets.map(({ name, part }) => ({ name, rows: () => sheetRows(source, parts, part, look) })),
      close: () => parts.close(),
    };
  } catch (error) {
    parts.close();
    throw error;
  }
}

interface Look {
  /** The number format of each cell style. */
  formats: string[];
  texts: string[];
  date1904: boolean;
}

/** Tokens in batches: one turn of the event loop for each token would take most of the time. */
async function* tokensOf(source: DataSource, text: AsyncIterable<string>): AsyncGenerator<Iterable<XmlToken>> {
  const tokenizer = new XmlTokenizer();
  for await (const piece of text) {
    yield tokenizer.push(piece);
    if (tokenizer.pending > maxTokenCharacters) throw tooLarge(source, 'has a cell larger than a workbook may have.');
  }
}

const localName = ({ name }: XmlToken) => name.slice(name.indexOf(':') + 1);

/** One attribute by its name without a prefix. */
function attribute(token: XmlToken, name: string): string | undefined {
  const start = token.raw.indexOf(` ${name}="`);
  if (start < 0) return attributesOf(token).find(([found]) => found.slice(found.indexOf(':') + 1) === name)?.[1];
  const from = start + name.length + 3;
  return decodeXml(token.raw.slice(from, token.raw.indexOf('"', from)));
}

interface BookPart {
  part: string;
  text: AsyncIterable<string>;
}

async function findBook(source: DataSource, parts: ZipParts): Promise<BookPart> {
  const relations = await targets(source, parts, '_rels/.rels', '');
  const part = relations.find(({ type }) => type.endsWith('/officeDocument'))?.part;
  const text = part === undefined ? undefined : parts.text(part);
  if (part === undefined || text === undefined) throw invalid(source, 'is damaged: it has no workbook in it.');
  return { part, text };
}

async function readStructure(
  source: DataSource,
  parts: ZipParts,
  book: BookPart,
): Promise<{ sheets: { name: string; part: string }[]; date1904: boolean }> {
  const folder = book.part.slice(0, book.part.lastIndexOf('/') + 1);
  const relations = `${folder}_rels/${book.part.slice(folder.length)}.rels`;
  const partOf = new Map(
    (await targets(source, parts, relations, folder))
      .filter(({ type }) => type.endsWith('/worksheet'))
      .map(({ id, part }) => [id, part]),
  );
  const sheets: { name: string; part: string }[] = [];
  let date1904 = false;
  for await (const tokens of tokensOf(source, book.text))
    for (const token of tokens) {
      if (token.kind !== 'open' && token.kind !== 'empty') continue;
      if (localName(token) === 'workbookPr') date1904 = /^(1|true)$/.test(attribute(token, 'date1904') ?? '');
      if (localName(token) !== 'sheet') continue;
      const id = attributesOf(token).find(([name]) => name.endsWith(':id'))?.[1];
      const part = partOf.get(id ?? '');
      if (part !== undefined) sheets.push({ name: attribute(token, 'name') ?? '', part });
    }
  if (sheets.length === 0) throw invalid(source, 'has no sheet with cells.');
  return { sheets, date1904 };
}

async function targets(source: DataSource, parts: ZipParts, relations: string, folder: string) {
  const found: { id: string; type: string; part: string }[] = [];
  const text = parts.text(relations);
  if (text === undefined) return found;
  for await (const tokens of tokensOf(source, text))
    for (const token of tokens) {
      if (localName(token) !== 'Relationship' || token.kind === 'close') continue;
      const target = attribute(token, 'Target') ?? '';
      const part = new URL(target, `http://part/${folder}`).pathname.slice(1);
      found.push({ id: attribute(token, 'Id') ?? '', type: attribute(token, 'Type') ?? '', part: decodeURI(part) });
    }
  return found;
}

/** The part whose name ends so, wherever a producer put it. */
function partEnding(parts: ZipParts, end: string): AsyncGenerator<string> | undefined {
  const name = parts.names.find((candidate) => candidate.endsWith(end));
  return name === undefined ? undefined : parts.text(name);
}

async function readFormats(source: DataSource, parts: ZipParts): Promise<string[]> {
  const text = partEnding(parts, 'styles.xml');
  if (text === undefined) return [];
  const codes = new Map<number, string>();
  const formats: string[] = [];
  let inCells = false;
  for await (const tokens of tokensOf(source, text))
    for (const token of tokens) {
      const name = localName(token);
      if (name === 'cellXfs') inCells = token.kind === 'open';
      else if (token.kind === 'close') continue;
      else if (name === 'numFmt') codes.set(Number(attribute(token, 'numFmtId')), attribute(token, 'formatCode') ?? '');
      else if (name === 'xf' && inCells) {
        const id = Number(attribute(token, 'numFmtId') ?? 0);
        formats.push(codes.get(id) ?? builtInFormat(id));
      }
    }
  return formats;
}

async function readSharedTexts(source: DataSource, parts: ZipParts): Promise<string[]> {
  const text = partEnding(parts, 'sharedstrings.xml');
  if (text === undefined) return [];
  const texts: string[] = [];
  let characters = 0;
  let current = '';
  let inText = false;
  let inPhonetic = false;
  for await (const tokens of tokensOf(source, text))
    for (const token of tokens) {
      const name = localName(token);
      if (token.kind === 'text' || token.kind === 'cdata') {
        if (inText && !inPhonetic) current += textOf(token);
      } else if (name === 't') inText = token.kind === 'open';
      else if (name === 'rPh') inPhonetic = token.kind === 'open';
      else if (name === 'si' && token.kind === 'open') current = '';
      else if (name === 'si') {
        texts.push(unescape(token.kind === 'empty' ? '' : current));
        characters += current.length;
        if (characters > maxSharedCharacters) throw tooLarge(source, 'has more text than can be read at once.');
      }
    }
  return texts;
}

function textOf({ kind, raw }: XmlToken): string {
  return kind === 'cdata' ? raw.slice(9, -3) : decodeXml(raw.replaceAll(/\r\n?/g, '\n'));
}

/** Characters XML cannot hold are written as `_x0007_`. */
function unescape(text: string): string {
  if (!text.includes('_x')) return text;
  return text.replaceAll(/_x([0-9a-fA-F]{4})_/g, (_match, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

async function* sheetRows(source: DataSource, parts: ZipParts, part: string, look: Look): AsyncGenerator<Row> {
  const text = parts.text(part);
  if (text === undefined) throw invalid(source, 'is damaged: a sheet is missing.');
  let rowNumber = 0;
  let row: Row | undefined;
  let cell: { column: number; type: string; format: string; value: string } | undefined;
  let inValue = false;
  for await (const tokens of tokensOf(source, text))
    for (const token of tokens) {
      if (token.kind === 'text' || token.kind === 'cdata') {
        if (inValue && cell !== undefined) cell.value += textOf(token);
        continue;
      }
      const name = localName(token);
      if (name === 'v' || name === 't') inValue = token.kind === 'open';
      else if (name === 'row' && token.kind !== 'close') {
        const next = Number(attribute(token, 'r') ?? rowNumber + 1);
        if (!(next > rowNumber && next <= maxRows)) throw invalid(source, 'is damaged: its rows are out of order.');
        for (; rowNumber + 1 < next; rowNumber++) yield [];
        rowNumber = next;
        row = [];
        if (token.kind === 'empty') yield row;
      } else if (name === 'row' && row !== undefined) {
        yield row;
        row = undefined;
      } else if (name === 'c' && row !== undefined) {
        if (token.kind === 'open') {
          const column = columnOf(attribute(token, 'r')) ?? row.length;
          if (column >= maxColumns) throw invalid(source, 'is damaged: a cell is outside of its sheet.');
          const format = look.formats[Number(attribute(token, 's') ?? 0)] ?? '';
          cell = { column, type: attribute(token, 't') ?? 'n', format, value: '' };
        } else {
          const column = cell?.column ?? columnOf(attribute(token, 'r')) ?? row.length;
          while (row.length < Math.min(column, maxColumns)) row.push('');
          row[column] = cell === undefined ? '' : cellText(cell.type, cell.value, cell.format, look);
          cell = undefined;
        }
      }
    }
}

/** `BC12` → 54 */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^\$?([A-Z]{1,3})/i.exec(reference ?? '')?.[1];
  if (letters === undefined) return undefined;
  return [...letters.toUpperCase()].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function cellText(type: string, value: string, format: string, { texts, date1904 }: Look): string {
  if (type === 's') return texts[Number(value)] ?? '';
  if (type === 'inlineStr' || type === 'str') return unescape(value);
  if (type === 'b') return value === '1' || value === 'true' ? 'TRUE' : 'FALSE';
  if (type === 'd' || type === 'e' || value === '') return value;
  if (isDateFormat(format)) return isoOfSerial(Number(value), format, date1904);
  return padZeros(shortest(value), format);
}

/** 17 digits that Excel stores for 1.1 are 1.1 again; whole numbers keep every digit. */
function shortest(value: string): string {
  return /^-?\d+$/.test(value) || !Number.isFinite(Number(value)) ? value : String(Number(value));
}
