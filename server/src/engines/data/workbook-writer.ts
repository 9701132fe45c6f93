import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../../lib/failure.ts';
import type { Row } from '../csv.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { neutralise } from './csv-writer.ts';
import { inBatches } from './source.ts';
import { encodeXml } from './xml-tokens.ts';

export const yazlEngine: Engine = {
  id: 'yazl',
  name: 'yazl',
  license: 'MIT',
  version: () => packageVersion('yazl'),
};

export interface SheetSource {
  /** Any text; made a name Excel allows. */
  name: string;
  rows: AsyncIterable<Row> | Iterable<Row>;
}

export interface WorkbookStyle {
  /** The first row names the columns: bold on grey. */
  headerStyle: boolean;
  /** Keep the first row in sight. */
  freezeHeader: boolean;
  /** Numbers, true and false become such cells where nothing is lost; else all is text. */
  inferTypes: boolean;
  escapeFormulas: boolean;
}

/** Excel's own limits of a sheet. */
const maxRows = 1_048_576;
const maxColumns = 16_384;
const maxCellCharacters = 32_767;

/**
 * Writes sheets as an XLSX workbook, row by row in flat memory. A table longer than a sheet goes on in a next one, under
 * the same header. Text stays text: leading zeros, long numbers and formulas are never taken for something else.
 *
 * @throws Failure `resource_limit` for more columns, or more characters in a cell, than Excel has.
 */
export async function writeWorkbook(
  sheets: AsyncIterable<SheetSource> | Iterable<SheetSource>,
  target: string,
  style: WorkbookStyle,
  signal: AbortSignal,
): Promise<{ rows: number }> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream as Readable, createWriteStream(target), { signal });
  written.catch(() => undefined);
  const names: string[] = [];
  let rows = 0;
  const add = async (part: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<void> => {
    const stream = Readable.from(inBatches(pieces));
    zip.addReadStream(stream, part, { compressionLevel: 4 });
    await Promise.race([ended(stream), written]);
  };
  try {
    for await (const { name, rows: source } of sheets) {
      const pages = new SheetPages(source, style);
      do {
        names.push(uniqueSheetName(name, names));
        await add(`xl/worksheets/sheet${names.length}.xml`, pages.next());
      } while (!pages.done);
      rows += pages.rows;
    }
    for (const [part, xml] of Object.entries(fixedParts(names))) await add(part, [xml]);
    zip.end();
  } catch (error) {
    (zip.outputStream as Readable).destroy();
    await written.catch(() => undefined);
    throw error;
  }
  await written;
  return { rows };
}

/** Resolves when a stream was read to its end, and rejects with its error. */
function ended(stream: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.once('end', resolve);
    stream.once('error', reject);
  });
}

/** The sheets that one table fills. */
class SheetPages {
  readonly #rows: AsyncIterator<Row>;
  readonly #style: WorkbookStyle;
  #header: Row | undefined;
  #waiting: Row | undefined;
  done = false;
  rows = 0;

  constructor(rows: AsyncIterable<Row> | Iterable<Row>, style: WorkbookStyle) {
    this.#rows = asAsync(rows);
    this.#style = style;
  }

  async *next(): AsyncGenerator<string> {
    yield sheetStart(this.#style);
    let number = 0;
    if (this.#header !== undefined) yield rowXml(this.#header, ++number, this.#style, true);
    if (this.#waiting !== undefined) yield rowXml(this.#waiting, ++number, this.#style, false);
    this.#waiting = undefined;
    for (;;) {
      const { value, done } = (await this.#rows.next()) as IteratorResult<Row, undefined>;
      if (done === true) {
        this.done = true;
        break;
      }
      this.rows++;
      if (number === maxRows) {
        this.#waiting = value;
        break;
      }
      const isHeader = this.#header === undefined;
      this.#header ??= value;
      yield rowXml(value, ++number, this.#style, isHeader);
    }
    yield '</sheetData></worksheet>';
  }
}

async function* asAsync(rows: AsyncIterable<Row> | Iterable<Row>): AsyncGenerator<Row, undefined> {
  yield* rows;
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const officeRelations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageFormat = 'http://schemas.openxmlformats.org/package/2006';

function sheetStart({ freezeHeader }: WorkbookStyle): string {
  const pane = '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>';
  const views = freezeHeader ? `<sheetViews><sheetView workbookViewId="0">${pane}</sheetView></sheetViews>` : '';
  return `${declaration}<worksheet xmlns="${main}">${views}<sheetFormatPr defaultRowHeight="15"/><sheetData>`;
}

function rowXml(row: Row, number: number, style: WorkbookStyle, isHeader: boolean): string {
  if (row.length > maxColumns) {
    throw new Failure('resource_limit', `Row ${number} has ${row.length} columns; a sheet holds ${maxColumns}.`);
  }
  const cells = row.map((cell) => cellXml(cell, number, style, isHeader));
  return `<row r="${number}">${cells.join('')}</row>`;
}

const plainNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

function cellXml(cell: string, number: number, style: WorkbookStyle, isHeader: boolean): string {
  const look = isHeader && style.headerStyle ? ' s="1"' : '';
  if (cell === '') return `<c${look}/>`;
  if (style.inferTypes && !isHeader) {
    if (plainNumber.test(cell) && cell.replace(/\D/g, '').length <= 15) return `<c><v>${cell}</v></c>`;
    if (/^true$/i.test(cell)) return '<c t="b"><v>1</v></c>';
    if (/^false$/i.test(cell)) return '<c t="b"><v>0</v></c>';
  }
  if (cell.length > maxCellCharacters) {
    throw new Failure(
      'resource_limit',
      `A cell in row ${number} has more than the ${maxCellCharacters} characters a sheet allows.`,
    );
  }
  const text = encodeXml(escapeCode(style.escapeFormulas ? neutralise(cell) : cell));
  return `<c t="inlineStr"${look}><is><t xml:space="preserve">${text}</t></is></c>`;
}

/** A text that looks like the escape of a character must not become that character. */
function escapeCode(text: string): string {
  return text.includes('_x') ? text.replaceAll(/_(?=x[0-9a-fA-F]{4}_)/g, '_x005F_') : text;
}

/** A name of at most 31 characters without `[]:*?/\`, no quote at its ends, and not taken. */
function uniqueSheetName(given: string, taken: readonly string[]): string {
  const clean = given
    // oxlint-disable-next-line no-control-regex -- what no name may have
    .replaceAll(/[\x00-\x1f\s[\]:*?/\\]+/g, ' ')
    .trim()
    .replaceAll(/^'+|'+$/g, '')
    .trim();
  const lower = new Set(taken.map((name) => name.toLowerCase()));
  const base = clean === '' || clean.toLowerCase() === 'history' ? 'Sheet' : clean;
  let name = [...base].slice(0, 31).join('').slice(0, 31).trim();
  for (let n = 2; lower.has(name.toLowerCase()); n++) {
    const end = ` (${n})`;
    name = `${base.slice(0, 31 - end.length).trim()}${end}`;
  }
  return name;
}

function fixedParts(names: readonly string[]): Record<string, string> {
  const each = (write: (name: string, number: number) => string) =>
    names.map((name, index) => write(name, index + 1)).join('');
  const sheetType = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const relations = (content: string) =>
    `${declaration}<Relationships xmlns="${packageFormat}/relationships">${content}</Relationships>`;
  const relation = (id: string, type: string, at: string) =>
    `<Relationship Id="${id}" Type="${officeRelations}/${type}" Target="${at}"/>`;
  return {
    'xl/workbook.xml': `${declaration}<workbook xmlns="${main}" xmlns:r="${officeRelations}"><sheets>${each(
      (name, n) => `<sheet name="${encodeXml(name)}" sheetId="${n}" r:id="rId${n}"/>`,
    )}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations(
      each((_name, n) => relation(`rId${n}`, 'worksheet', `worksheets/sheet${n}.xml`)) +
        relation('styles', 'styles', 'styles.xml'),
    ),
    'xl/styles.xml': `${declaration}<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="3"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid"><fgColor rgb="FFE7E6E6"/></patternFill></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/><xf fontId="1" fillId="2" applyFont="1" applyFill="1"/></cellXfs></styleSheet>`,
    '_rels/.rels': relations(relation('rId1', 'officeDocument', 'xl/workbook.xml')),
    '[Content_Types].xml': `${declaration}<Types xmlns="${packageFormat}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${sheetType}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${sheetType}.styles+xml"/>${each(
      (_name, n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${sheetType}.worksheet+xml"/>`,
    )}</Types>`,
  };
}
