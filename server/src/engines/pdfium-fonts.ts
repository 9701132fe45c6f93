/** How letters look, in terms that word processors and browsers have too. */
export interface TextStyle {
  /** A family people have, such as `Arial`. */
  family: string;
  kind: 'serif' | 'sans' | 'mono';
  /** Points on the page. */
  size: number;
  bold: boolean;
  italic: boolean;
  /** `rrggbb`. */
  color: string;
  /** False for text that is only there to be searched, as a text recognition leaves it. */
  isVisible: boolean;
}

interface FontFacts {
  /** As the file has it: `ABCDEF+Helvetica-BoldOblique`. */
  name: string;
  /** Of the font descriptor. */
  flags: number;
  weight: number;
  size: number;
  color: string;
  isVisible: boolean;
}

const flag = { fixedPitch: 1, serif: 2, italic: 64, forceBold: 1 << 18 } as const;

/** Families under the names that their programs give them: PostScript's own, LaTeX's and their free twins. */
const families: readonly [RegExp, string, TextStyle['kind']][] = [
  [/^(courier|nimbusmon|cmtt|lmmono|sftt|liberationmono|dejavusansmono|consolas|menlo)/, 'Courier New', 'mono'],
  [/^(helvetica|arial|nimbussan|liberationsans|texgyreheros|cmss|lmsans)/, 'Arial', 'sans'],
  [
    /^(times|nimbusrom|liberationserif|texgyretermes|cmr|cmbx|cmti|cmsl|cmcsc|lmroman|sfrm|sfbx|sfti)/,
    'Times New Roman',
    'serif',
  ],
  [/^carlito/, 'Calibri', 'sans'],
  [/^caladea/, 'Cambria', 'serif'],
  [/^(dejavusans|bitstreamverasans)/, 'Verdana', 'sans'],
];

const weightWords = /(bold|black|heavy|demi|semibold|cmbx|sfbx|medi$)/i;
const italicWords = /(italic|oblique|cmti|sfti|slant|kursiv)|[-,]It$/i;

/** Judges a font by its name first: many files have wrong or no descriptors. */
export function fontStyle({ name, flags, weight, size, color, isVisible }: FontFacts): TextStyle {
  const bare = name.replace(/^[A-Z]{6}\+/, '');
  const key = bare.toLowerCase().replaceAll(/[^a-z]/g, '');
  const known = families.find(([pattern]) => pattern.test(key));
  return {
    family: known?.[1] ?? familyName(bare),
    kind: known?.[2] ?? kindOf(key, flags),
    size: Math.round(size * 100) / 100,
    bold: weightWords.test(bare) || (flags & flag.forceBold) !== 0 || weight >= 700,
    italic: italicWords.test(bare) || (flags & flag.italic) !== 0,
    color,
    isVisible,
  };
}

/** `OpenSans-SemiBoldItalic` → `Open Sans`, `TrebuchetMS,Bold` → `Trebuchet MS`. */
function familyName(bare: string): string {
  const stem = (bare.split(/[-,]/)[0] ?? '').replace(/(PS)?MT$/, '');
  const spaced = stem
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll(/[^\p{L}\p{N} ]/gu, ' ')
    .trim();
  return /^[\p{L}][\p{L}\p{N} ]{1,39}$/u.test(spaced) ? spaced : 'Arial';
}

function kindOf(key: string, flags: number): TextStyle['kind'] {
  if ((flags & flag.fixedPitch) !== 0 || key.includes('mono')) return 'mono';
  if (key.includes('sans')) return 'sans';
  return (flags & flag.serif) !== 0 || key.includes('serif') ? 'serif' : 'sans';
}
