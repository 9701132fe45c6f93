import type { Font } from 'fontkit';
import { toError } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { hasOutlines, type OpenFont, tablesOf } from './font-file.ts';

export const fontkit: Engine = {
  id: 'fontkit',
  name: 'fontkit',
  license: 'MIT',
  version: () => packageVersion('fontkit'),
};

async function read<T>({ sfnt, filename }: OpenFont, look: (font: Font) => T): Promise<T> {
  const { create } = await import('fontkit');
  try {
    const font = create(sfnt);
    if ('fonts' in font) throw new Error('a collection');
    return look(font);
  } catch (error) {
    if (error instanceof Failure) throw error;
    const message = `"${filename}" is a damaged font, or one that is cut short.`;
    throw new Failure('invalid_input', message, { file: filename, log: toError(error).message });
  }
}

/** Which of the characters a font can show. */
export function knownCharacters(font: OpenFont, characters: string): Promise<string> {
  return read(font, ({ characterSet }) => {
    const known = new Set(characterSet);
    return [...characters].filter((character) => known.has(character.codePointAt(0) ?? -1)).join('');
  });
}

/** The characters a font has a glyph for; fontkit counts the mark at the end of the list (U+FFFF) as one. */
function charactersOf(font: Font): number[] {
  return font.characterSet.filter((code) => font.hasGlyphForCodePoint(code));
}

function outlinesOf({ sfnt, outlines }: OpenFont): string {
  if (!hasOutlines(tablesOf(sfnt))) return 'none (pictures)';
  return outlines === 'otf' ? 'CFF (cubic)' : 'TrueType (quadratic)';
}

/** What a font says about itself, as JSON. */
export function describeFont(opened: OpenFont) {
  return read(opened, (font) => ({
    family: font.familyName,
    style: font.subfamilyName,
    full_name: font.fullName,
    postscript_name: font.postscriptName,
    version: font.version,
    copyright: font.copyright,
    outlines: outlinesOf(opened),
    glyphs: font.numGlyphs,
    characters: charactersOf(font).length,
    ranges: rangesOf(charactersOf(font)),
    units_per_em: font.unitsPerEm,
    ascent: font.ascent,
    descent: font.descent,
    line_gap: font.lineGap,
    cap_height: font.capHeight,
    x_height: font.xHeight,
    italic_angle: font.italicAngle,
    features: font.availableFeatures,
    variation_axes: font.variationAxes,
  }));
}

/** Code points as ranges: `U+0020-007E`. */
function rangesOf(codePoints: readonly number[]): string[] {
  const ranges: [number, number][] = [];
  for (const code of codePoints.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && code === last[1] + 1) last[1] = code;
    else ranges.push([code, code]);
  }
  const hex = (code: number) => code.toString(16).toUpperCase().padStart(4, '0');
  return ranges.map(([first, last]) => (first === last ? `U+${hex(first)}` : `U+${hex(first)}-${hex(last)}`));
}

const sampleHeight = 160;
const sampleMargin = 24;
const widestSample = 4000;

/**
 * A line of text in the font, as a drawing in black on white. Characters the font does not have are left out.
 *
 * @throws Failure `invalid_input` when it has none of them.
 */
export async function drawSample(opened: OpenFont, text: string): Promise<string> {
  const known = await knownCharacters(opened, text);
  if (known.trim() === '') {
    const { filename } = opened;
    throw new Failure('invalid_input', `"${filename}" has none of the characters of the sample.`, { file: filename });
  }
  return read(opened, (font) => {
    const { glyphs, positions, advanceWidth } = font.layout(known);
    const scale = (sampleHeight - 2 * sampleMargin) / (font.ascent - font.descent || font.unitsPerEm);
    const width = Math.min(widestSample, Math.ceil(advanceWidth * scale) + 2 * sampleMargin);
    const baseline = sampleMargin + font.ascent * scale;
    let x = 0;
    const paths = glyphs.map((glyph, index) => {
      const { xOffset, yOffset, xAdvance } = positions[index]!;
      const path = `<path transform="translate(${x + xOffset} ${yOffset})" d="${glyph.path.toSVG()}"/>`;
      x += xAdvance;
      return path;
    });
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${sampleHeight}">` +
      `<rect width="100%" height="100%" fill="#ffffff"/>` +
      `<g transform="translate(${sampleMargin} ${baseline}) scale(${scale} ${-scale})">${paths.join('')}</g></svg>\n`
    );
  });
}
