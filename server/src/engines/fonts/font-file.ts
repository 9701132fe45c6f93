import { readFile, stat } from 'node:fs/promises';
import { toError } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { redrawFont } from './fontforge.ts';

export const fontverter: Engine = {
  id: 'fontverter',
  name: 'fontverter',
  license: 'BSD-3-Clause',
  version: () => packageVersion('fontverter'),
};

/** Larger than any font of all of Unicode, in bytes. */
const maxFontBytes = 100_000_000;

/** A font as its tables, whatever it was wrapped in. */
export interface OpenFont {
  filename: string;
  /** TrueType or OpenType: what WOFF and EOT wrap. */
  sfnt: Buffer;
  /** How its glyphs are drawn: quadratic curves (TTF) or cubic ones (OTF). A font of nothing but pictures counts as TTF. */
  outlines: 'ttf' | 'otf';
}

/**
 * Reads a font of any kind into its tables; an SVG font is drawn as TrueType.
 *
 * @throws Failure `invalid_input` for a damaged font, `resource_limit` above 100 MB.
 */
export async function openFont(
  { path, filename, type }: { path: string; filename: string; type: FileTypeId },
  workspace: { scratch: string; signal: AbortSignal },
): Promise<OpenFont> {
  if ((await stat(path)).size > maxFontBytes) {
    throw new Failure('resource_limit', `"${filename}" is larger than the 100 MB a font may have.`, { file: filename });
  }
  const bytes = await readFile(path);
  if (type === 'svg') {
    const sfnt = await redrawFont({ bytes, extension: 'svg', filename }, 'ttf', workspace);
    return { filename, sfnt, outlines: 'ttf' };
  }
  try {
    const sfnt = type === 'eot' ? unwrapEot(bytes) : await unwrap(bytes);
    return { filename, sfnt, outlines: outlinesOf(sfnt) };
  } catch (error) {
    throw damaged(filename, toError(error).message);
  }
}

/**
 * Wraps a font for a format; cubic outlines become quadratic ones, or the other way round, where the format asks for it.
 *
 * @throws Failure `invalid_input` for a font that would lose its axes or colours that way.
 */
export async function convertFont(
  font: OpenFont,
  format: 'ttf' | 'otf' | 'woff' | 'woff2',
  workspace: { scratch: string; signal: AbortSignal },
): Promise<Buffer> {
  if (format === 'woff' || format === 'woff2') return wrap(font, format);
  if (format === font.outlines) return font.sfnt;
  assertRedrawable(font, format);
  return redrawFont({ bytes: font.sfnt, extension: font.outlines, filename: font.filename }, format, workspace);
}

async function unwrap(bytes: Buffer): Promise<Buffer> {
  const { convert } = await import('fontverter');
  return convert(bytes, 'truetype');
}

async function wrap({ sfnt, filename }: OpenFont, format: 'woff' | 'woff2'): Promise<Buffer> {
  const { convert } = await import('fontverter');
  try {
    return await convert(sfnt, format);
  } catch (error) {
    throw damaged(filename, toError(error).message);
  }
}

/** Where a table directory begins: version, number of tables, three search helpers, then 16 bytes a table. */
const directoryStart = 12;

/** Tables whose loss a drawing of the outlines alone would not show. */
const lostWhenRedrawn: Readonly<Record<string, string>> = {
  fvar: 'is a variable font, and would lose its axes',
  COLR: 'is a colour font, and would lose its colours',
  'SVG ': 'is a colour font, and would lose its colours',
  sbix: 'is a font of pictures, and would lose them',
  CBDT: 'is a font of pictures, and would lose them',
};

function assertRedrawable({ sfnt, filename, outlines }: OpenFont, format: string): void {
  const tables = tablesOf(sfnt);
  const [, loss] = Object.entries(lostWhenRedrawn).find(([table]) => tables.has(table)) ?? [];
  const reason = loss ?? (hasOutlines(tables) ? undefined : 'has pictures in place of outlines');
  if (reason === undefined) return;
  const message = `"${filename}" ${reason} as ${format.toUpperCase()}; choose woff2, woff or ${outlines}.`;
  throw new Failure('invalid_input', message, { file: filename });
}

function outlinesOf(sfnt: Buffer): OpenFont['outlines'] {
  const tables = tablesOf(sfnt);
  if (tables.has('CFF ') || tables.has('CFF2')) return 'otf';
  if (hasOutlines(tables) || pictureTables.some((table) => tables.has(table))) return 'ttf';
  throw new Error(`no outlines among the tables ${[...tables].join(', ')}`);
}

/** Where fonts without outlines keep the pictures of their characters. */
const pictureTables = ['CBDT', 'EBDT', 'sbix', 'SVG '];

/** Whether the glyphs of a font with these tables are drawn by curves. */
export function hasOutlines(tables: ReadonlySet<string>): boolean {
  return tables.has('CFF ') || tables.has('CFF2') || (tables.has('glyf') && tables.has('loca'));
}

/**
 * The tables of a font by their four letters.
 *
 * @throws Error when one does not lie within the file.
 */
export function tablesOf(sfnt: Buffer): Set<string> {
  const tables = new Set<string>();
  for (let index = 0; index < sfnt.readUInt16BE(4); index++) {
    const at = directoryStart + index * 16;
    const end = sfnt.readUInt32BE(at + 8) + sfnt.readUInt32BE(at + 12);
    if (end > sfnt.length) throw new Error(`table ${index} ends at ${end} of ${sfnt.length}`);
    tables.add(sfnt.toString('latin1', at, at + 4));
  }
  return tables;
}

const eot = { fontSize: 4, flags: 12, compressed: 0x4, encrypted: 0x1000_0000, key: 0x50 };

/** An EOT is a header and a TrueType font, which may be scrambled with a constant (EOT submission to the W3C, section 4). */
function unwrapEot(bytes: Buffer): Buffer {
  const size = bytes.readUInt32LE(eot.fontSize);
  const flags = bytes.readUInt32LE(eot.flags);
  if ((flags & eot.compressed) !== 0) throw new Error('MicroType Express compression');
  if (size === 0 || size >= bytes.length) throw new Error(`font of ${size} bytes in a file of ${bytes.length}`);
  const font = bytes.subarray(bytes.length - size);
  return (flags & eot.encrypted) === 0 ? font : Buffer.from(font.map((byte) => byte ^ eot.key));
}

function damaged(filename: string, log: string): Failure {
  const message = log.includes('MicroType')
    ? `"${filename}" is compressed in a way only Internet Explorer can read.`
    : `"${filename}" is a damaged font, or one that is cut short.`;
  return new Failure('invalid_input', message, { file: filename, log });
}
