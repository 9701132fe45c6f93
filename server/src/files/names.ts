/** Bytes of UTF-8 a given name may have: below the 255 of file systems, with room for `-1` and a second extension. */
const maxBytes = 200;

/** Control characters (C0, DEL, C1), line separators, and marks that turn the direction of text: `gpj.exe` shown as `exe.jpg`. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const invisible = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Names that Windows keeps for devices, whatever extension follows. */
const reservedOnWindows = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(?=\.|$)/i;

/** What Windows, and writers of archives, take for a drive. */
const drive = /^([a-z]):/i;

const extension = /(?:\.tar)?\.[^.\s]{1,16}$/u;

/**
 * The name a caller gave, made safe to show, to put into a header or an archive and to save on any system: one path
 * segment in NFC without control characters, at most 200 bytes with its extension kept. `file` when nothing is left.
 * It stays data: no file of ours is ever named after it.
 */
export function cleanFilename(given: string | undefined): string {
  const plain = (given ?? '').toWellFormed().normalize('NFC').replace(invisible, '');
  const segment = plain.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const trimmed = withoutTrailing(segment.replace(/^[-.\s]+/, '').replace(drive, '$1_'));
  const named = reservedOnWindows.test(trimmed) ? `_${trimmed}` : trimmed;
  return shorten(named) || 'file';
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name;
  const kept = extension.exec(name)?.[0] ?? '';
  const stem = cutToBytes(name.slice(0, name.length - kept.length), maxBytes - Buffer.byteLength(kept));
  return withoutTrailing(stem) + kept;
}

/** Windows drops dots and spaces at the end. A pattern for this takes quadratic time over a long run of them. */
function withoutTrailing(name: string): string {
  let end = name.length;
  while (end > 0 && /[.\s]/.test(name[end - 1] ?? '')) end--;
  return name.slice(0, end);
}

/** The longest beginning of a text that fits, without cutting a character in two. */
function cutToBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes));
  return text.slice(0, read);
}

/**
 * The value of a `Content-Disposition` header (RFC 6266) that saves under this name: an ASCII form for old clients and
 * the exact one. Any text is safe: what could end the value or the header is encoded or replaced.
 */
export function contentDisposition(filename: string): string {
  const wellFormed = filename.toWellFormed();
  const ascii = wellFormed
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%/]/gu, '_');
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeExtended(wellFormed)}`;
}

/** RFC 8187: `encodeURIComponent` leaves four characters as they are that the header's grammar has other uses for. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
