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
  pdf: { mediaType: 'application/pdf', extensions: ['pdf'], name: 'PDF document' },
  doc: { mediaType: 'application/msword', extensions: ['doc'], name: 'Word 97-2003 document' },
  docx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    extensions: ['docx'],
    name: 'Word document',
  },
  xlsx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    extensions: ['xlsx'],
    name: 'Excel workbook',
  },
  pptx: {
    mediaType: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    extensions: ['pptx'],
    name: 'PowerPoint presentation',
  },
  odt: { mediaType: 'application/vnd.oasis.opendocument.text', extensions: ['odt'], name: 'OpenDocument text' },
  rtf: { mediaType: 'application/rtf', extensions: ['rtf'], name: 'Rich Text document' },
  /** An OOXML file locked with a password is a compound file; what is inside shows only after unlocking. */
  encrypted_office: { mediaType: 'application/encrypted', extensions: ['docx'], name: 'encrypted Office document' },
  txt: { mediaType: 'text/plain', extensions: ['txt', 'text', 'log'], name: 'plain text' },
  csv: { mediaType: 'text/csv', extensions: ['csv'], name: 'CSV table' },
  tsv: { mediaType: 'text/tab-separated-values', extensions: ['tsv', 'tab'], name: 'TSV table' },
  json: { mediaType: 'application/json', extensions: ['json'], name: 'JSON' },
  ndjson: { mediaType: 'application/x-ndjson', extensions: ['ndjson', 'jsonl'], name: 'newline-delimited JSON' },
  xml: { mediaType: 'application/xml', extensions: ['xml'], name: 'XML' },
  html: { mediaType: 'text/html', extensions: ['html', 'htm'], name: 'HTML page' },
  zip: { mediaType: 'application/zip', extensions: ['zip'], name: 'ZIP archive' },
  tar: { mediaType: 'application/x-tar', extensions: ['tar'], name: 'TAR archive' },
  gz: { mediaType: 'application/gzip', extensions: ['gz', 'tgz'], name: 'gzip file' },
  xz: { mediaType: 'application/x-xz', extensions: ['xz', 'txz'], name: 'XZ file' },
  zst: { mediaType: 'application/zstd', extensions: ['zst'], name: 'Zstandard file' },
  '7z': { mediaType: 'application/x-7z-compressed', extensions: ['7z'], name: '7-Zip archive' },
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
