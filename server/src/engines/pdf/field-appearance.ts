import { PDFArray, PDFName, PDFNumber, type PDFDict, type PDFObject, type PDFRef } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import { formOf } from './copy.ts';
import type { PdfFile } from './document.ts';
import { inheritedEntry } from './fields.ts';
import { arrayEntry, dictEntry, entry, isText, nameText, numberEntry, numbersOf, resolve, textOf } from './objects.ts';
import { operands, rectangle } from './page-frame.ts';
import { drawnMark } from './stamp.ts';
import type { Typeface } from './typeface.ts';

/** Field flags of the standard. */
const flags = { multiline: 1 << 12, password: 1 << 13, radio: 1 << 15, pushButton: 1 << 16, comb: 1 << 24 };
/** Points between a field's edge and its text, and the sizes of text that has to fit by itself. */
const padding = 2;
const smallest = 4;
const largest = 12;
/** More text than this in one field is not read by anybody on a page. */
const maxCharacters = 20_000;

interface Field {
  kind: string | undefined;
  flags: number;
  width: number;
  height: number;
  /** From the field's own description of its look: operators of the text colour, and the size, 0 for what fits. */
  color: string;
  size: number;
  alignment: number;
  widget: PDFDict;
}

/** Draws a field from its value, as a form XObject of the field's size; undefined when it has nothing to show. */
export function drawField(file: PdfFile, widget: PDFDict, typeface: Typeface): PDFRef | undefined {
  const area = rectangle(widget, 'Rect');
  if (area === undefined) return undefined;
  const number = (key: string) => {
    const value = inheritedEntry(widget, key);
    return value instanceof PDFNumber ? value.asNumber() : 0;
  };
  const form = formOf(file);
  const look = inheritedEntry(widget, 'DA') ?? (form && entry(form, 'DA'));
  const turn = turnOf(widget);
  const [width, height] = [area.right - area.left, area.top - area.bottom];
  const isSideways = turn % 180 !== 0;
  const field: Field = {
    kind: nameText(inheritedEntry(widget, 'FT')),
    flags: number('Ff'),
    width: isSideways ? height : width,
    height: isSideways ? width : height,
    ...readLook(textOf(look) ?? ''),
    alignment: number('Q') || (form && numberEntry(form, 'Q')) || 0,
    widget,
  };
  const content = `${frameOf(field)}${contentOf(file, field, typeface)}`;
  if (content === '') return undefined;
  const { form: drawn } = drawnMark(file.context, field, content, { Font: { F: typeface.ref } });
  if (turn === 0) return drawn;
  const stream = file.context.lookup(drawn) as unknown as { dict: PDFDict };
  stream.dict.set(PDFName.of('Matrix'), file.context.obj(turned(turn, width, height)));
  return drawn;
}

/** Degrees counterclockwise that a field is turned on its page, as on landscape pages that are shown turned. */
function turnOf(widget: PDFDict): number {
  const look = dictEntry(widget, 'MK');
  const turn = (look && numberEntry(look, 'R')) ?? 0;
  return turn % 90 === 0 ? ((turn % 360) + 360) % 360 : 0;
}

/** Turns what is drawn upright into an area of this size. */
function turned(turn: number, width: number, height: number): number[] {
  if (turn === 90) return [0, 1, -1, 0, width, 0];
  return turn === 180 ? [-1, 0, 0, -1, width, height] : [0, -1, 1, 0, 0, height];
}

/** The default appearance: `/Helv 12 Tf 0 g`. */
function readLook(look: string): { color: string; size: number } {
  const size = Number(/([\d.]+)\s+Tf/.exec(look)?.[1] ?? '0');
  const color = /(?:[\d.]+\s+){1,4}(?:g|rg|k)(?![a-z])/.exec(look)?.[0] ?? '0 g';
  return { color, size: Number.isFinite(size) ? Math.min(size, 300) : 0 };
}

/** Background and border, as the field's characteristics say. */
function frameOf({ widget, width, height }: Field): string {
  const look = dictEntry(widget, 'MK');
  const color = (key: string, operators: readonly string[]) => {
    const numbers = look && numbersOf(widget.context, arrayEntry(look, key));
    const operator = operators[numbers?.length ?? 0];
    return numbers === undefined || !operator ? '' : `${operands(...numbers)} ${operator}\n`;
  };
  const background = color('BG', ['', 'g', '', 'rg', 'k']);
  const border = color('BC', ['', 'G', '', 'RG', 'K']);
  const style = dictEntry(widget, 'BS');
  const line = Math.min((style && numberEntry(style, 'W')) ?? 1, width / 2, height / 2);
  const filled = background === '' ? '' : `${background}${operands(0, 0, width, height)} re f\n`;
  if (border === '' || !(line > 0)) return filled;
  const inner = operands(line / 2, line / 2, width - line, height - line);
  return `${filled}${border}${operands(line)} w ${inner} re S\n`;
}

function contentOf(file: PdfFile, field: Field, typeface: Typeface): string {
  if (field.kind === 'Btn') return buttonContent(field, typeface);
  if (field.kind !== 'Tx' && field.kind !== 'Ch') return '';
  const value = valueOf(file, field).slice(0, maxCharacters);
  if (value.trim() === '') return '';
  const text = (field.flags & flags.password) !== 0 && field.kind === 'Tx' ? '*'.repeat([...value].length) : value;
  refuseMissing(file, typeface, text);
  const isComb = field.kind === 'Tx' && (field.flags & flags.comb) !== 0;
  const cells = inheritedEntry(field.widget, 'MaxLen');
  if (isComb && cells instanceof PDFNumber) return combContent(field, text, cells.asNumber(), typeface);
  const isMultiline = field.kind === 'Tx' ? (field.flags & flags.multiline) !== 0 : text.includes('\n');
  return textContent(field, text, isMultiline, typeface);
}

/** @throws Failure `invalid_input`: an empty box in place of a letter would be a wrong result. */
function refuseMissing({ filename }: PdfFile, typeface: Typeface, text: string): void {
  const missing = typeface.missing(text.replaceAll(/\p{Cc}/gu, ''));
  if (missing.length === 0) return;
  const shown = missing.slice(0, 10).join(' ');
  const message = `A field of ${filename} has signs that the font here (DejaVu Sans) cannot draw: ${shown}`;
  throw new Failure('invalid_input', message, { file: filename });
}

function valueOf(file: PdfFile, { kind, widget }: Field): string {
  const value = inheritedEntry(widget, 'V');
  const texts = value instanceof PDFArray ? value.asArray().map((each) => resolve(file.context, each)) : [value];
  const words = texts.filter((each) => isText(each)).map((each) => textOf(each) ?? '');
  if (kind === 'Tx') return words[0] ?? '';
  return words.map((word) => shownOption(file, inheritedEntry(widget, 'Opt'), word)).join('\n');
}

/** A choice may be exported under another word than the one that shows. */
function shownOption(file: PdfFile, options: PDFObject | undefined, word: string): string {
  if (!(options instanceof PDFArray)) return word;
  for (const option of options.asArray()) {
    const pair = resolve(file.context, option);
    if (!(pair instanceof PDFArray) || textOf(resolve(file.context, pair.get(0))) !== word) continue;
    return textOf(resolve(file.context, pair.get(1))) ?? word;
  }
  return word;
}

function buttonContent({ kind, flags: set, widget, width, height, ...field }: Field, typeface: Typeface): string {
  if ((set & flags.pushButton) !== 0) {
    const look = dictEntry(widget, 'MK');
    const caption = (look && textOf(entry(look, 'CA'))) ?? '';
    if (caption === '') return '';
    return textContent({ kind, flags: set, widget, width, height, ...field, alignment: 1 }, caption, false, typeface);
  }
  const state = nameText(entry(widget, 'AS')) ?? nameText(inheritedEntry(widget, 'V')) ?? 'Off';
  if (state === 'Off') return '';
  const side = Math.min(width, height);
  const at = (x: number, y: number) => operands((width - side) / 2 + x * side, (height - side) / 2 + y * side);
  if ((set & flags.radio) === 0)
    return `0 G ${operands(side / 10)} w ${at(0.2, 0.5)} m ${at(0.42, 0.25)} l ${at(0.8, 0.78)} l S\n`;
  // A circle of four curves.
  const [r, k] = [0.25, 0.25 * 0.5523];
  const curve = (...points: [number, number][]) => `${points.map(([x, y]) => at(0.5 + x, 0.5 + y)).join(' ')} c`;
  return [
    `0 g ${at(0.5 + r, 0.5)} m`,
    curve([r, k], [k, r], [0, r]),
    curve([-k, r], [-r, k], [-r, 0]),
    curve([-r, -k], [-k, -r], [0, -r]),
    curve([k, -r], [r, -k], [r, 0]),
    'f\n',
  ].join(' ');
}

function textContent(field: Field, text: string, isMultiline: boolean, typeface: Typeface): string {
  const { width, height, color, alignment } = field;
  const room = Math.max(1, width - 2 * padding);
  const lineHeight = typeface.ascent - typeface.descent;
  const clean = text
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(/[^\P{Cc}\n]/gu, '');
  const linesAt = (size: number) => (isMultiline ? wrap(clean, room / size, typeface) : [clean.replaceAll('\n', ' ')]);
  let size = field.size > 0 ? field.size : Math.max(smallest, Math.min(largest, height / lineHeight));
  const overflows = () => {
    const lines = linesAt(size);
    const isWide = !isMultiline && typeface.line(lines[0] ?? '').width * size > room;
    return isWide || (isMultiline && lines.length * lineHeight * size > height);
  };
  // A value that shows only in part would be lost: it is made smaller, down to what can still be read.
  while (size > smallest && overflows()) size = Math.max(smallest, size * 0.9);
  const lines = linesAt(size).map((line) => typeface.line(line));
  const step = lineHeight * size;
  const top = isMultiline ? height - padding : (height + step) / 2;
  const shown = lines.map((line, index) => {
    const spare = room - line.width * size;
    const x = padding + (alignment === 1 ? spare / 2 : alignment === 2 ? spare : 0);
    const y = top - typeface.ascent * size - index * step;
    return `${operands(1, 0, 0, 1, x, y)} Tm\n${line.show(size)}`;
  });
  return `BT ${color} /F ${operands(size)} Tf\n${shown.join('\n')}\nET\n`;
}

/** Lines of at most this width, in parts of the font size, broken at spaces, and within words that are longer. */
function wrap(text: string, width: number, typeface: Typeface): string[] {
  const space = typeface.line(' ').width;
  return text.split('\n').flatMap((paragraph) => {
    const lines: string[] = [];
    let [line, length] = ['', 0];
    for (const { word, size } of paragraph.split(' ').flatMap((each) => pieces(each, width, typeface))) {
      const isFirst = line === '';
      if (isFirst || length + space + size <= width) {
        line = isFirst ? word : `${line} ${word}`;
        length += isFirst ? size : space + size;
        continue;
      }
      lines.push(line);
      [line, length] = [word, size];
    }
    return [...lines, line];
  });
}

function pieces(word: string, width: number, typeface: Typeface): { word: string; size: number }[] {
  const size = typeface.line(word).width;
  if (size <= width || word.length < 2) return [{ word, size }];
  const signs = [...word];
  const count = Math.max(1, Math.floor((signs.length * width) / size));
  const parts: { word: string; size: number }[] = [];
  for (let start = 0; start < signs.length; start += count) {
    const part = signs.slice(start, start + count).join('');
    parts.push({ word: part, size: typeface.line(part).width });
  }
  return parts;
}

/** One sign in each of so many equal cells. */
function combContent(
  { width, height, color, size: given }: Field,
  text: string,
  cells: number,
  typeface: Typeface,
): string {
  const count = Math.max(1, Math.min(cells, 1000));
  const size = given > 0 ? given : Math.max(smallest, Math.min(largest, height * 0.8));
  const shown = [...text].slice(0, count).map((sign, index) => {
    const line = typeface.line(sign);
    const x = ((index + 0.5) * width) / count - (line.width * size) / 2;
    const y = (height - (typeface.ascent + typeface.descent) * size) / 2;
    return `${operands(1, 0, 0, 1, x, y)} Tm\n${line.show(size)}`;
  });
  return `BT ${color} /F ${operands(size)} Tf\n${shown.join('\n')}\nET\n`;
}
