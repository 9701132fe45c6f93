/** One file format: how it is called on the wire, by file systems and by people. */
export interface FileType {
  mediaType: string;
  /** Usual extensions without the dot, the preferred one first. */
  extensions: readonly [string, ...string[]];
  /** For people: `JPEG image`. */
  name: string;
}

/**
 * Every format the service can name. `files/sniff.ts` decides by content which one a file is; tools list the ones they
 * accept and produce by these keys.
 */
export const fileTypes = {
  jpeg: { mediaType: 'image/jpeg', extensions: ['jpg', 'jpeg', 'jpe', 'jfif'], name: 'JPEG image' },
  png: { mediaType: 'image/png', extensions: ['png', 'apng'], name: 'PNG image' },
  webp: { mediaType: 'image/webp', extensions: ['webp'], name: 'WebP image' },
  avif: { mediaType: 'image/avif', extensions: ['avif'], name: 'AVIF image' },
  heic: { mediaType: 'image/heic', extensions: ['heic', 'heif'], name: 'HEIC image' },
  gif: { mediaType: 'image/gif', extensions: ['gif'], name: 'GIF image' },
  tiff: { mediaType: 'image/tiff', extensions: ['tiff', 'tif'], name: 'TIFF image' },
  svg: { mediaType: 'image/svg+xml', extensions: ['svg'], name: 'SVG drawing' },
  bmp: { mediaType: 'image/bmp', extensions: ['bmp'], name: 'BMP image' },
  ico: { mediaType: 'image/vnd.microsoft.icon', extensions: ['ico'], name: 'Windows icon' },
  jxl: { mediaType: 'image/jxl', extensions: ['jxl'], name: 'JPEG XL image' },
  psd: { mediaType: 'image/vnd.adobe.photoshop', extensions: ['psd'], name: 'Photoshop document' },
  raw: {
    mediaType: 'image/x-dcraw',
    extensions: ['dng', 'cr2', 'cr3', 'nef', 'arw', 'raf', 'orf', 'rw2'],
    name: 'camera raw photo',
  },
  svgz: { mediaType: 'image/svg+xml-compressed', extensions: ['svgz'], name: 'compressed SVG drawing' },

  pdf: { mediaType: 'application/pdf', extensions: ['pdf'], name: 'PDF document' },
  fdf: { mediaType: 'application/vnd.fdf', extensions: ['fdf'], name: 'PDF form data' },

  doc: { mediaType: 'application/msword', extensions: ['doc'], name: 'Word 97-2003 document' },
  docx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    extensions: ['docx'],
    name: 'Word document',
  },
  odt: { mediaType: 'application/vnd.oasis.opendocument.text', extensions: ['odt'], name: 'OpenDocument text' },
  rtf: { mediaType: 'application/rtf', extensions: ['rtf'], name: 'Rich Text document' },
  pages: { mediaType: 'application/vnd.apple.pages', extensions: ['pages'], name: 'Pages document' },
  xls: { mediaType: 'application/vnd.ms-excel', extensions: ['xls'], name: 'Excel 97-2003 workbook' },
  xlsx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    extensions: ['xlsx'],
    name: 'Excel workbook',
  },
  ods: {
    mediaType: 'application/vnd.oasis.opendocument.spreadsheet',
    extensions: ['ods'],
    name: 'OpenDocument spreadsheet',
  },
  ppt: { mediaType: 'application/vnd.ms-powerpoint', extensions: ['ppt'], name: 'PowerPoint 97-2003 presentation' },
  pptx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    extensions: ['pptx'],
    name: 'PowerPoint presentation',
  },
  odp: {
    mediaType: 'application/vnd.oasis.opendocument.presentation',
    extensions: ['odp'],
    name: 'OpenDocument presentation',
  },
  key: { mediaType: 'application/vnd.apple.keynote', extensions: ['key'], name: 'Keynote presentation' },
  /** An OOXML file locked with a password is a compound file; what is inside shows only after unlocking. */
  encrypted_office: {
    mediaType: 'application/encrypted',
    extensions: ['docx', 'xlsx', 'pptx'],
    name: 'encrypted Office document',
  },
  eml: { mediaType: 'message/rfc822', extensions: ['eml'], name: 'e-mail' },
  msg: { mediaType: 'application/vnd.ms-outlook', extensions: ['msg'], name: 'Outlook e-mail' },

  epub: { mediaType: 'application/epub+zip', extensions: ['epub'], name: 'EPUB book' },
  mobi: { mediaType: 'application/x-mobipocket-ebook', extensions: ['mobi', 'prc'], name: 'Mobipocket book' },
  azw3: { mediaType: 'application/vnd.amazon.mobi8-ebook', extensions: ['azw3', 'azw'], name: 'Kindle book' },
  fb2: { mediaType: 'application/x-fictionbook+xml', extensions: ['fb2'], name: 'FictionBook' },
  cbz: { mediaType: 'application/vnd.comicbook+zip', extensions: ['cbz'], name: 'comic book (CBZ)' },
  cbr: { mediaType: 'application/vnd.comicbook-rar', extensions: ['cbr'], name: 'comic book (CBR)' },
  cb7: { mediaType: 'application/x-cb7', extensions: ['cb7'], name: 'comic book (CB7)' },

  mp4: { mediaType: 'video/mp4', extensions: ['mp4', 'm4v'], name: 'MP4 video' },
  mov: { mediaType: 'video/quicktime', extensions: ['mov', 'qt'], name: 'QuickTime video' },
  mkv: { mediaType: 'video/x-matroska', extensions: ['mkv', 'mka'], name: 'Matroska video' },
  webm: { mediaType: 'video/webm', extensions: ['webm'], name: 'WebM video' },
  avi: { mediaType: 'video/x-msvideo', extensions: ['avi'], name: 'AVI video' },
  wmv: { mediaType: 'video/x-ms-wmv', extensions: ['wmv', 'asf'], name: 'Windows Media video' },
  flv: { mediaType: 'video/x-flv', extensions: ['flv', 'f4v'], name: 'Flash video' },
  mpeg: { mediaType: 'video/mpeg', extensions: ['mpg', 'mpeg', 'vob'], name: 'MPEG video' },
  mpegts: { mediaType: 'video/mp2t', extensions: ['ts', 'm2ts', 'mts'], name: 'MPEG transport stream' },
  '3gp': { mediaType: 'video/3gpp', extensions: ['3gp', '3g2'], name: '3GP video' },
  ogv: { mediaType: 'video/ogg', extensions: ['ogv'], name: 'Ogg video' },

  mp3: { mediaType: 'audio/mpeg', extensions: ['mp3', 'mp2'], name: 'MP3 audio' },
  m4a: { mediaType: 'audio/mp4', extensions: ['m4a', 'm4b'], name: 'M4A audio' },
  aac: { mediaType: 'audio/aac', extensions: ['aac'], name: 'AAC audio' },
  wav: { mediaType: 'audio/wav', extensions: ['wav'], name: 'WAV audio' },
  flac: { mediaType: 'audio/flac', extensions: ['flac'], name: 'FLAC audio' },
  ogg: { mediaType: 'audio/ogg', extensions: ['ogg', 'oga'], name: 'Ogg Vorbis audio' },
  opus: { mediaType: 'audio/opus', extensions: ['opus'], name: 'Opus audio' },
  aiff: { mediaType: 'audio/aiff', extensions: ['aiff', 'aif', 'aifc'], name: 'AIFF audio' },
  wma: { mediaType: 'audio/x-ms-wma', extensions: ['wma'], name: 'Windows Media audio' },
  amr: { mediaType: 'audio/amr', extensions: ['amr'], name: 'AMR audio' },
  ac3: { mediaType: 'audio/ac3', extensions: ['ac3'], name: 'AC-3 audio' },

  srt: { mediaType: 'application/x-subrip', extensions: ['srt'], name: 'SubRip subtitles' },
  vtt: { mediaType: 'text/vtt', extensions: ['vtt'], name: 'WebVTT subtitles' },
  ass: { mediaType: 'text/x-ssa', extensions: ['ass', 'ssa'], name: 'SubStation Alpha subtitles' },
  sub: { mediaType: 'text/x-microdvd', extensions: ['sub'], name: 'MicroDVD subtitles' },
  ttml: { mediaType: 'application/ttml+xml', extensions: ['ttml', 'dfxp'], name: 'TTML subtitles' },

  txt: { mediaType: 'text/plain', extensions: ['txt', 'text', 'log'], name: 'plain text' },
  md: { mediaType: 'text/markdown', extensions: ['md', 'markdown'], name: 'Markdown text' },
  html: { mediaType: 'text/html', extensions: ['html', 'htm', 'xhtml'], name: 'HTML page' },
  hocr: { mediaType: 'text/vnd.hocr+html', extensions: ['hocr'], name: 'hOCR page' },
  css: { mediaType: 'text/css', extensions: ['css'], name: 'CSS style sheet' },
  js: { mediaType: 'text/javascript', extensions: ['js', 'mjs', 'cjs', 'jsx'], name: 'JavaScript' },
  typescript: { mediaType: 'application/typescript', extensions: ['ts', 'tsx', 'mts', 'cts'], name: 'TypeScript' },
  sql: { mediaType: 'application/sql', extensions: ['sql'], name: 'SQL' },
  tex: { mediaType: 'application/x-tex', extensions: ['tex'], name: 'LaTeX' },
  rst: { mediaType: 'text/x-rst', extensions: ['rst'], name: 'reStructuredText' },
  patch: { mediaType: 'text/x-diff', extensions: ['patch', 'diff'], name: 'patch' },

  csv: { mediaType: 'text/csv', extensions: ['csv'], name: 'CSV table' },
  tsv: { mediaType: 'text/tab-separated-values', extensions: ['tsv', 'tab'], name: 'TSV table' },
  json: { mediaType: 'application/json', extensions: ['json'], name: 'JSON' },
  json5: { mediaType: 'application/json5', extensions: ['json5', 'jsonc'], name: 'JSON5' },
  ndjson: { mediaType: 'application/x-ndjson', extensions: ['ndjson', 'jsonl'], name: 'newline-delimited JSON' },
  yaml: { mediaType: 'application/yaml', extensions: ['yaml', 'yml'], name: 'YAML' },
  xml: { mediaType: 'application/xml', extensions: ['xml', 'xsd'], name: 'XML' },
  parquet: { mediaType: 'application/vnd.apache.parquet', extensions: ['parquet'], name: 'Parquet table' },
  arrow: { mediaType: 'application/vnd.apache.arrow.file', extensions: ['arrow', 'feather'], name: 'Arrow table' },

  zip: { mediaType: 'application/zip', extensions: ['zip'], name: 'ZIP archive' },
  tar: { mediaType: 'application/x-tar', extensions: ['tar'], name: 'TAR archive' },
  gz: { mediaType: 'application/gzip', extensions: ['gz', 'tgz'], name: 'gzip file' },
  bz2: { mediaType: 'application/x-bzip2', extensions: ['bz2', 'tbz2'], name: 'bzip2 file' },
  xz: { mediaType: 'application/x-xz', extensions: ['xz', 'txz'], name: 'XZ file' },
  zst: { mediaType: 'application/zstd', extensions: ['zst', 'tzst'], name: 'Zstandard file' },
  br: { mediaType: 'application/x-brotli', extensions: ['br'], name: 'Brotli file' },
  '7z': { mediaType: 'application/x-7z-compressed', extensions: ['7z'], name: '7-Zip archive' },
  rar: { mediaType: 'application/vnd.rar', extensions: ['rar'], name: 'RAR archive' },
  iso: { mediaType: 'application/x-iso9660-image', extensions: ['iso'], name: 'ISO disk image' },
  cab: { mediaType: 'application/vnd.ms-cab-compressed', extensions: ['cab'], name: 'Windows cabinet' },

  ttf: { mediaType: 'font/ttf', extensions: ['ttf'], name: 'TrueType font' },
  otf: { mediaType: 'font/otf', extensions: ['otf'], name: 'OpenType font' },
  woff: { mediaType: 'font/woff', extensions: ['woff'], name: 'WOFF font' },
  woff2: { mediaType: 'font/woff2', extensions: ['woff2'], name: 'WOFF2 font' },
  eot: { mediaType: 'application/vnd.ms-fontobject', extensions: ['eot'], name: 'Embedded OpenType font' },

  age: { mediaType: 'application/x-age', extensions: ['age'], name: 'age-encrypted file' },
  gpg: { mediaType: 'application/pgp-encrypted', extensions: ['gpg', 'pgp', 'asc'], name: 'OpenPGP-encrypted file' },
  p12: { mediaType: 'application/x-pkcs12', extensions: ['p12', 'pfx'], name: 'PKCS #12 certificate' },
  binary: { mediaType: 'application/octet-stream', extensions: ['bin'], name: 'file' },
} as const satisfies Record<string, FileType>;

export type FileTypeId = keyof typeof fileTypes;

/** The media type that is served for a format. */
export function mediaTypeOf(type: FileTypeId): string {
  return fileTypes[type].mediaType;
}

/** The preferred extension of a format, without the dot. */
export function extensionOf(type: FileTypeId): string {
  return fileTypes[type].extensions[0];
}

/** A sentence part for people: `JPEG image, PNG image or PDF document`. */
export function namesOf(types: readonly FileTypeId[]): string {
  const names = types.map((type) => fileTypes[type].name);
  const last = names.pop() ?? '';
  return names.length === 0 ? last : `${names.join(', ')} or ${last}`;
}

/** Names of what nobody counts, and of those that are more than one. */
const withoutArticle = /(audio|text|subtitles|Script|SQL|LaTeX|reStructuredText|JSON5?|YAML|XML)$/;
/** Names that begin with the sound of a vowel, some of them by the name of their first letter. */
const vowel = /^([aeiou]|SVG|MP4|XZ|HTML|hOCR)/i;

/** The name of a format within a sentence: `a JPEG image`, `an SVG drawing`, `plain text`. */
export function articleAndName(type: FileTypeId): string {
  const { name } = fileTypes[type];
  if (withoutArticle.test(name)) return name;
  return `${vowel.test(name) ? 'an' : 'a'} ${name}`;
}
