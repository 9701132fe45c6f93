/** Words that are written in their own way, in the names of settings and among their choices. */
const spelling = new Map(
  (
    'AAC AVIF BMP CMYK CPU CRF CSS CSV DOCX DPI ECC EPUB EXIF FLAC FPS GIF GPS HEIC HTML HTTP ICC ICO ID ISO JPEG JPG ' +
    'JSON JXL MOBI MOV MP3 MP4 NDJSON OCR ODT OGG OTF PDF PDF/A PNG PPTX PSD QR RGB RTF SHA SQL SRT SVG TAR TIFF TOML ' +
    'TSV TTF TXT URL UTF UUID VTT WAV WebM WebP WOFF WOFF2 XLSX XML YAML ZIP cm in mm pt px'
  )
    .split(' ')
    .map((word) => [word.toLowerCase().replace('/', ''), word] as const),
);

/** Units at the end of a name. */
const units: Readonly<Record<string, string>> = {
  kb: 'kB',
  mb: 'MB',
  gb: 'GB',
  ms: 'ms',
  s: 's',
  px: 'px',
  mm: 'mm',
  pt: 'pt',
  kbps: 'kbit/s',
  hz: 'Hz',
  khz: 'kHz',
  db: 'dB',
  percent: '%',
};

/** The name of a setting for people: `target_size_kb` is `Target size (kB)`. */
export function labelOfName(name: string): string {
  const words = name.split(/[_-]+/).filter((word) => word !== '');
  const unit = words.length > 1 ? units[words.at(-1) ?? ''] : undefined;
  const label = toPhrase(unit === undefined ? words : words.slice(0, -1));
  return unit === undefined ? label : `${label} (${unit})`;
}

/** A choice for people: `top-left` is `Top left`, `webp` is `WebP`; codes such as `h264` or `utf-8` stay as they are. */
export function labelOfChoice(value: string): string {
  const special = spelling.get(value);
  if (special !== undefined) return special;
  return /^[a-z]{2,}([_-][a-z]+)*$/.test(value) ? toPhrase(value.split(/[_-]/)) : value;
}

function toPhrase(words: readonly string[]): string {
  const phrase = words.map((word) => spelling.get(word) ?? word).join(' ');
  return phrase.charAt(0).toUpperCase() + phrase.slice(1);
}

/** A rule that the service says of a field, such as `must be true or false`, as a sentence. */
export function toSentence(rule: string): string {
  const text = rule.trim();
  const whole = /^(must|is|are|has|was|were|needs|may|cannot|can|takes|does|should)\b/.test(text)
    ? `This ${text}`
    : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}
