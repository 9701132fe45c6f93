import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PDFHexString, PDFRawStream, type PDFContext, type PDFRef } from '@cantoo/pdf-lib';
import type { Font } from 'fontkit';
import { deflateSync } from 'node:zlib';
import { operands } from './page-frame.ts';

/** A line of text ready to be drawn. Lengths are in parts of the font size. */
export interface TextLine {
  /** Operators between `BT` and `ET`, for a current font of this typeface and this size at the line's start. */
  show(size: number): string;
  width: number;
}

/** The font we ship, in one file: only the signs that were drawn are embedded. */
export interface Typeface {
  /** The font as an object of the file; complete after {@link Typeface.finish}. */
  readonly ref: PDFRef;
  /** In parts of the font size: what stands above the baseline, and below (negative). */
  readonly ascent: number;
  readonly descent: number;
  /** The signs of a text that the font cannot draw, each once. */
  missing(text: string): string[];
  line(text: string): TextLine;
  /** Writes the font into the file. Call it once everything has been drawn. */
  finish(): void;
}

const fontFile = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');
let fontData: Promise<Buffer> | undefined;

/** A fresh font for every file: fontkit keeps glyphs, and forgets which signs they stand for when it writes a subset. */
export async function openTypeface(context: PDFContext): Promise<Typeface> {
  fontData ??= readFile(fontFile);
  const [fontkit, data] = await Promise.all([import('fontkit'), fontData]);
  const font = fontkit.create(data) as Font;
  const subset = font.createSubset();
  const glyphs: { width: number; text: string }[] = [{ width: font.getGlyph(0).advanceWidth, text: '' }];
  const ref = context.nextRef();
  const em = font.unitsPerEm;

  const line = (text: string): TextLine => {
    const placed = runsAsShown(text).flatMap((run) => {
      const { glyphs: shaped, positions } = font.layout(run);
      return shaped.map((glyph, index): PlacedGlyph => {
        const code = subset.includeGlyph(glyph) as unknown as number; // The types of the package are wrong here.
        glyphs[code] ??= { width: glyph.advanceWidth, text: String.fromCodePoint(...glyph.codePoints) };
        const { xAdvance, xOffset, yOffset } = positions[index] ?? { xAdvance: 0, xOffset: 0, yOffset: 0 };
        return { code, advance: xAdvance, xOffset, yOffset, width: glyph.advanceWidth };
      });
    });
    const width = placed.reduce((sum, { advance }) => sum + advance, 0) / em;
    return { width, show: (size) => showGlyphs(placed, em, size) };
  };
  return {
    ref,
    ascent: font.ascent / em,
    descent: font.descent / em,
    missing: (text) => [...new Set(text)].filter((sign) => !font.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0)),
    line,
    finish: () => embed(context, ref, font, { file: subset.encode(), glyphs }),
  };
}

const rightToLeft = String.raw`\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}`;
const runPattern = new RegExp(`[${rightToLeft}](?:[\\s\\p{M}\\p{P}]*[${rightToLeft}\\p{M}])*|[^${rightToLeft}]+`, 'gu');

/** The parts of a line that are written in one direction, from left to right as they stand on paper. */
function runsAsShown(text: string): string[] {
  const runs = text.match(runPattern) ?? [];
  const startsRight = new RegExp(`^[${rightToLeft}]`, 'u').test(text.trim());
  if (!startsRight) return runs;
  // Spaces stay between the same two words.
  return runs.toReversed().map((run) => run.replace(/^(\s*)(.*?)(\s*)$/su, '$3$2$1'));
}

interface PlacedGlyph {
  code: number;
  /** In units of the font. */
  advance: number;
  xOffset: number;
  yOffset: number;
  width: number;
}

/** One `TJ` for as long as the glyphs stand on the baseline; accents above or below it are raised by `Ts`. */
function showGlyphs(glyphs: readonly PlacedGlyph[], em: number, size: number): string {
  const parts: string[] = [];
  const thousandth = (units: number) => operands((-units * 1000) / em);
  let rise = 0;
  let items: string[] = [];
  const flush = () => {
    if (items.length > 0) parts.push(`[${items.join(' ')}] TJ`);
    items = [];
  };
  for (const { code, advance, xOffset, yOffset, width } of glyphs) {
    if (yOffset !== rise) {
      flush();
      parts.push(`${operands((yOffset * size) / em)} Ts`);
      rise = yOffset;
    }
    if (xOffset !== 0) items.push(thousandth(xOffset));
    items.push(`<${code.toString(16).padStart(4, '0')}>`);
    const rest = advance - width - xOffset;
    if (rest !== 0) items.push(thousandth(rest));
  }
  flush();
  if (rise !== 0) parts.push('0 Ts');
  return parts.join('\n');
}

interface Subset {
  file: Uint8Array;
  glyphs: readonly { width: number; text: string }[];
}

function embed(context: PDFContext, ref: PDFRef, font: Font, { file, glyphs }: Subset): void {
  const scale = (units: number) => Math.round((units * 1000) / font.unitsPerEm);
  const name = `MILRUN+${font.postscriptName}`;
  const { minX, minY, maxX, maxY } = font.bbox;
  const descriptor = context.obj({
    Type: 'FontDescriptor',
    FontName: name,
    Flags: 4,
    FontBBox: [minX, minY, maxX, maxY].map(scale),
    ItalicAngle: 0,
    Ascent: scale(font.ascent),
    Descent: scale(font.descent),
    CapHeight: scale(font.capHeight || font.ascent), // Older fonts do not say.
    StemV: 80,
    FontFile2: packed(context, file, { Length1: file.length }),
  });
  const descendant = context.obj({
    Type: 'Font',
    Subtype: 'CIDFontType2',
    BaseFont: name,
    CIDSystemInfo: {
      Registry: PDFHexString.of(hex('Adobe')),
      Ordering: PDFHexString.of(hex('Identity')),
      Supplement: 0,
    },
    FontDescriptor: context.register(descriptor),
    CIDToGIDMap: 'Identity',
    DW: 1000,
    W: [0, glyphs.map(({ width }) => scale(width))],
  });
  context.assign(
    ref,
    context.obj({
      Type: 'Font',
      Subtype: 'Type0',
      BaseFont: name,
      Encoding: 'Identity-H',
      DescendantFonts: [context.register(descendant)],
      ToUnicode: packed(context, Buffer.from(unicodeMap(glyphs)), {}),
    }),
  );
}

function packed(context: PDFContext, data: Uint8Array, entries: Record<string, number>): PDFRef {
  return context.register(PDFRawStream.of(context.obj({ ...entries, Filter: 'FlateDecode' }), deflateSync(data)));
}

function hex(text: string): string {
  return Buffer.from(text, 'latin1').toString('hex');
}

/** At most as many lines as one block of a map may have. */
const mapBlock = 100;

function unicodeMap(glyphs: Subset['glyphs']): string {
  const lines = glyphs.flatMap(({ text }, code) => {
    const utf16 = Buffer.from(text, 'utf16le').swap16().toString('hex');
    return text === '' ? [] : [`<${code.toString(16).padStart(4, '0')}> <${utf16}>`];
  });
  const blocks: string[] = [];
  for (let start = 0; start < lines.length; start += mapBlock) {
    const block = lines.slice(start, start + mapBlock);
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`);
  }
  return [
    '/CIDInit /ProcSet findresource begin 12 dict begin begincmap',
    '/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def',
    '/CMapName /Adobe-Identity-UCS def /CMapType 2 def',
    '1 begincodespacerange <0000> <ffff> endcodespacerange',
    ...blocks,
    'endcmap CMapName currentdict /CMap defineresource pop end end',
  ].join('\n');
}
