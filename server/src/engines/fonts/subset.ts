import { toError } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import type { OpenFont } from './font-file.ts';
import { knownCharacters } from './inspect.ts';

export const harfbuzz: Engine = {
  id: 'subset-font',
  name: 'HarfBuzz (subset-font)',
  license: 'BSD-3-Clause',
  version: () => packageVersion('subset-font'),
};

type Range = readonly [first: number, last: number];

/** Characters that belong together, as the fonts of the web are usually cut. */
const namedRanges: Readonly<Record<string, readonly Range[]>> = {
  ascii: [[0x20, 0x7e]],
  latin: [
    [0x20, 0x7e],
    [0xa0, 0xff],
    [0x131, 0x131],
    [0x152, 0x153],
    [0x2bb, 0x2dc],
    [0x2000, 0x206f],
    [0x20ac, 0x20ac],
    [0x2122, 0x2122],
    [0x2190, 0x2193],
    [0x2212, 0x2215],
  ],
  'latin-ext': [
    [0x100, 0x2ba],
    [0x1e00, 0x1eff],
    [0x20a0, 0x20c0],
    [0x2c60, 0x2c7f],
    [0xa720, 0xa7ff],
  ],
  greek: [
    [0x370, 0x3ff],
    [0x1f00, 0x1fff],
  ],
  cyrillic: [
    [0x400, 0x52f],
    [0x1c80, 0x1c88],
    [0x2de0, 0x2dff],
    [0xa640, 0xa69f],
  ],
  vietnamese: [
    [0x102, 0x103],
    [0x110, 0x111],
    [0x128, 0x129],
    [0x168, 0x169],
    [0x1a0, 0x1a1],
    [0x1af, 0x1b0],
    [0x300, 0x323],
    [0x1ea0, 0x1ef9],
  ],
  digits: [[0x30, 0x39]],
};
export const rangeNames = Object.keys(namedRanges);

/** `latin, U+2190-21FF`: names or code points; undefined when a part is neither. */
export function parseUnicodes(text: string): string | undefined {
  const ranges: Range[] = [];
  for (const part of text.toLowerCase().split(',')) {
    const word = part.trim();
    const found = namedRanges[word] ?? parseRange(word);
    if (found === undefined) return undefined;
    ranges.push(...found);
  }
  return ranges.map(charactersOf).join('');
}

function parseRange(word: string): readonly Range[] | undefined {
  const match = /^(?:u\+)?([0-9a-f]{1,6})(?:-(?:u\+)?([0-9a-f]{1,6}))?$/.exec(word);
  if (match === null) return undefined;
  const first = Number.parseInt(match[1] ?? '', 16);
  const last = match[2] === undefined ? first : Number.parseInt(match[2], 16);
  return first <= last && last <= 0x10ffff ? [[first, last]] : undefined;
}

function charactersOf([first, last]: Range): string {
  let text = '';
  for (let code = first; code <= last; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff;
    if (!isSurrogate) text += String.fromCodePoint(code);
  }
  return text;
}

export interface SubsetOptions {
  /** Every character to keep; undefined keeps all glyphs. */
  characters: string | undefined;
  keepHinting: boolean;
  /** OpenType features by their four letters; undefined keeps all of them. */
  features?: readonly string[] | undefined;
}

/**
 * A font with only the glyphs some characters need, ligatures and alternates of them included.
 *
 * @throws Failure `invalid_input` when the font has none of the characters, or is damaged.
 */
export async function subsetFont(font: OpenFont, options: SubsetOptions): Promise<OpenFont> {
  await assertHasAny(font, options.characters);
  const { default: subset } = await import('subset-font');
  try {
    const sfnt = await subset(font.sfnt, options.characters, {
      targetFormat: 'sfnt',
      noHinting: !options.keepHinting,
      keepAllGlyphs: options.characters === undefined,
      ...(options.features === undefined ? {} : { keepFeatures: [...options.features] }),
    });
    return { ...font, sfnt };
  } catch (error) {
    const { filename } = font;
    const message = `"${filename}" cannot be taken apart: it is damaged, or its licence bits forbid it.`;
    throw new Failure('invalid_input', message, { file: filename, log: toError(error).message });
  }
}

/** Without this a font of nothing but the mark for missing characters would be made. */
async function assertHasAny(font: OpenFont, characters: string | undefined): Promise<void> {
  if (characters === undefined || (await knownCharacters(font, characters)).trim() !== '') return;
  throw new Failure('invalid_input', `"${font.filename}" has none of the characters that are to be kept.`, {
    file: font.filename,
  });
}
