/** What a person would call a file; decides its icon. */
export type FileKind =
  | 'image'
  | 'pdf'
  | 'document'
  | 'spreadsheet'
  | 'presentation'
  | 'table'
  | 'data'
  | 'text'
  | 'audio'
  | 'video'
  | 'subtitle'
  | 'archive'
  | 'font'
  | 'ebook'
  | 'other';

interface Named {
  filename: string;
  /** As the browser or the service names it; may be empty. */
  mediaType: string;
}

const byMediaType: readonly (readonly [RegExp, FileKind])[] = [
  [/^application\/pdf$/, 'pdf'],
  [/^text\/(csv|tab-separated-values)$/, 'table'],
  [/spreadsheet|ms-excel/, 'spreadsheet'],
  [/presentation|ms-powerpoint/, 'presentation'],
  [/wordprocessing|msword|opendocument\.text|^application\/rtf$|^text\/rtf$/, 'document'],
  [/epub|mobipocket|x-fictionbook/, 'ebook'],
  [/^text\/vtt$|subrip|x-ssa|ttml/, 'subtitle'],
  [/^image\//, 'image'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/^font\/|font-|opentype|truetype/, 'font'],
  [/zip|x-tar|gzip|x-xz|zstd|7z-compressed|x-rar|vnd\.rar|x-bzip/, 'archive'],
  [/json|xml$|yaml|toml|sql|parquet/, 'data'],
  [/^text\//, 'text'],
];

const byExtension: Readonly<Record<Exclude<FileKind, 'other'>, string>> = {
  image:
    'jpg jpeg jpe jfif png apng webp avif heic heif gif tiff tif svg bmp ico jxl psd dng cr2 cr3 nef arw raf orf rw2',
  pdf: 'pdf',
  document: 'doc docx odt rtf pages',
  spreadsheet: 'xls xlsx ods numbers',
  presentation: 'ppt pptx odp key',
  table: 'csv tsv tab',
  data: 'json ndjson jsonl xml yaml yml toml sql parquet geojson ini',
  text: 'txt text log md markdown html htm css js tex',
  audio: 'mp3 m4a aac wav flac ogg oga opus wma aiff aif amr',
  video: 'mp4 m4v mov mkv webm avi wmv flv mpg mpeg ts 3gp ogv',
  subtitle: 'srt vtt ass ssa sbv ttml',
  archive: 'zip tar gz tgz xz txz zst 7z rar bz2',
  font: 'ttf otf woff woff2 eot',
  ebook: 'epub mobi azw3 fb2',
};

const extensionKinds = new Map<string, FileKind>(
  Object.entries(byExtension)
    .toReversed()
    .flatMap(([kind, extensions]) => extensions.split(' ').map((extension) => [extension, kind as FileKind] as const)),
);

/** The kind of a file by its media type and, where that says nothing, by its name. */
export function kindOf({ filename, mediaType }: Named): FileKind {
  const type = (mediaType.split(';')[0] ?? '').trim().toLowerCase();
  const known = byMediaType.find(([pattern]) => pattern.test(type))?.[1];
  // A text may be anything, and browsers guess: the name then says more.
  if (known !== undefined && known !== 'text') return known;
  return extensionKinds.get(extensionOf(filename)) ?? known ?? 'other';
}

/** The last extension of a name in lower case, without the dot; empty when there is none. */
export function extensionOf(filename: string): string {
  return /[^.]\.([^.\s/\\]{1,16})$/.exec(filename)?.[1]?.toLowerCase() ?? '';
}

/** The name without its last extension, and without `.tar` before that. */
export function stemOf(filename: string): string {
  return filename.replace(/(?<=.)(?:\.tar)?\.[^.\s]{1,16}$/, '');
}
