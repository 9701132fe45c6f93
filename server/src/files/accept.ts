import { fileTypes, type FileTypeId } from '../lib/media-types.ts';

/** Text formats that have no marks of their own: whatever a text looks like, it may be one of them. */
const unmarkedText = ['md', 'css', 'js', 'typescript', 'sql', 'tex', 'rst', 'yaml'] as const satisfies FileTypeId[];
/** Text formats that show, mostly. */
const markedText = [
  'svg',
  'fdf',
  'eml',
  'fb2',
  'srt',
  'vtt',
  'ass',
  'sub',
  'ttml',
  'html',
  'hocr',
  'patch',
  'csv',
  'tsv',
  'json',
  'json5',
  'ndjson',
  'xml',
] as const satisfies FileTypeId[];
const anyText: readonly FileTypeId[] = ['txt', ...unmarkedText, ...markedText];
/** What text without clear marks is taken for. */
const plainText = ['txt', 'csv', 'tsv'] as const satisfies FileTypeId[];

type Relations = Partial<Record<FileTypeId, readonly FileTypeId[]>>;

/**
 * Other formats that a tool which accepts the key takes as well, because they are an instance of it or cannot be told
 * from it: every CSV is text, a CSV of one column or one line shows no delimiter, a DOCX is a ZIP.
 */
const compatible: Relations = {
  ...Object.fromEntries(unmarkedText.map((type) => [type, anyText])),
  txt: anyText,
  csv: ['tsv', 'txt'],
  tsv: ['csv', 'txt'],
  json5: ['json', 'txt'],
  ndjson: ['json'],
  xml: ['svg', 'ttml', 'fb2', 'html', 'hocr'],
  html: ['hocr'],
  docx: ['encrypted_office'],
  xlsx: ['encrypted_office'],
  pptx: ['encrypted_office'],
  zip: ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'pages', 'key', 'epub', 'cbz'],
  rar: ['cbr'],
  '7z': ['cb7'],
  gz: ['svgz'],
  mp4: ['mov', '3gp'],
  mov: ['mp4', '3gp'],
  '3gp': ['mp4', 'mov'],
  mkv: ['webm'],
  ogg: ['opus'],
};

const comics = ['zip', 'rar', '7z'] as const satisfies FileTypeId[];

/**
 * Formats that are only meant when the name says so: what content shows is the family, or for text that it is text. A
 * ZIP of photos is a comic book if it is called one; comic books are often called by another archive's extension.
 */
const meantByName: Relations = {
  json: ['txt'],
  json5: anyText,
  ndjson: plainText,
  xml: plainText,
  html: [...plainText, 'xml'],
  hocr: ['html', 'xml'],
  svg: ['xml', 'txt'],
  fb2: ['xml'],
  ttml: ['xml'],
  srt: plainText,
  vtt: plainText,
  ass: plainText,
  sub: plainText,
  eml: plainText,
  patch: [...plainText, 'eml'],
  csv: plainText,
  tsv: plainText,
  cbz: comics,
  cbr: comics,
  cb7: comics,
  pages: ['zip', 'key'],
  key: ['zip', 'pages'],
  azw3: ['mobi'],
  mobi: ['azw3'],
  mp4: ['m4a'],
  m4a: ['mp4', 'mov', '3gp'],
  mov: ['m4a'],
  '3gp': ['m4a'],
  flv: ['mp4'],
  webm: ['mkv'],
  wmv: ['wma'],
  wma: ['wmv'],
  mpeg: ['mpegts'],
  mpegts: ['mpeg'],
  ogv: ['ogg', 'opus'],
  ogg: ['ogv'],
  opus: ['ogg'],
  svgz: ['gz'],
  /** Brotli has no mark at all, and may look like anything. */
  br: Object.keys(fileTypes) as FileTypeId[],
};

/** Whether a file that shows as `actual` may be used where `accepted` is asked for. */
function isCompatible(actual: FileTypeId, accepted: FileTypeId): boolean {
  return actual === accepted || (compatible[accepted]?.includes(actual) ?? false);
}

/**
 * The accepted format a file is to be read as: the one its name says where content cannot tell (text, and families like
 * ZIP and CBZ); else its own when that is accepted; else one it is compatible with (`txt` for a tool of CSV and JSON is
 * a CSV of one column); else undefined. With `any` always its own.
 */
export function acceptedAs(
  type: FileTypeId,
  accepts: readonly FileTypeId[] | 'any',
  filename: string,
): FileTypeId | undefined {
  if (accepts === 'any') return type;
  const own = accepts.includes(type) ? type : undefined;
  return namedType(type, accepts, filename) ?? own ?? compatibleType(type, accepts);
}

/** The first that fits. Text is only taken for Markdown, CSS, … without its name when there is one of them to choose. */
function compatibleType(type: FileTypeId, accepts: readonly FileTypeId[]): FileTypeId | undefined {
  const fitting = accepts.filter((accepted) => isCompatible(type, accepted));
  return fitting.find((accepted) => !isUnmarked(accepted)) ?? (fitting.length === 1 ? fitting[0] : undefined);
}

function isUnmarked(type: FileTypeId): boolean {
  return unmarkedText.some((unmarked) => unmarked === type);
}

/** Whether a tool that accepts these formats takes a file of this one. */
export function satisfies(type: FileTypeId, accepts: readonly FileTypeId[] | 'any', filename: string): boolean {
  return acceptedAs(type, accepts, filename) !== undefined;
}

/** The format an extension says, among those that this content may be. */
function namedType(type: FileTypeId, accepts: readonly FileTypeId[], filename: string): FileTypeId | undefined {
  const extension = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase();
  const named = accepts.filter((accepted) => (fileTypes[accepted].extensions as readonly string[]).includes(extension));
  // Columns that tabs divide are no table of commas, whatever its name: spreadsheets save TSV as `.csv`.
  if (named.includes(type) || (type === 'tsv' && accepts.includes('tsv') && named.includes('csv'))) return type;
  return named.find((accepted) => mayBe(type, accepted));
}

function mayBe(type: FileTypeId, named: FileTypeId): boolean {
  if (meantByName[named]?.includes(type) === true) return true;
  return (anyText.includes(type) || type === 'encrypted_office') && isCompatible(type, named);
}
