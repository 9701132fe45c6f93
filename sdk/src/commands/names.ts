// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const invisible = /[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
/** What Windows refuses in names; a colon would write into a hidden stream of another file there. */
const refusedOnWindows = /[<>:"|?*]/g;
const devicesOnWindows = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(?=\.|$)/i;
/** Below the 255 bytes of file systems, with room for `-1`. */
const mostBytes = 200;

/**
 * The name a server gave, made safe to save in a directory on any system: one segment of a path, never hidden, never one
 * that a program would take for an option. `output` when nothing is left.
 */
export function safeFilename(given: string): string {
  const visible = given.toWellFormed().normalize('NFC').replace(invisible, '');
  const segment = visible.split(/[/\\]/).findLast((part) => part !== '') ?? '';
  const plain = withoutEnd(segment.replace(/^[-.\s]+/, '').replace(refusedOnWindows, '_'));
  const named = devicesOnWindows.test(plain) ? `_${plain}` : plain;
  return shorten(named) || 'output';
}

/** Windows drops dots and blanks at the end. */
function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && /[.\s]/.test(name[end - 1] ?? '')) end--;
  return name.slice(0, end);
}

function shorten(name: string): string {
  if (Buffer.byteLength(name) <= mostBytes) return name;
  const extension = /(?:\.tar)?\.[^.\s]{1,16}$/.exec(name)?.[0] ?? '';
  const room = new Uint8Array(mostBytes - Buffer.byteLength(extension));
  const { read } = new TextEncoder().encodeInto(name.slice(0, name.length - extension.length), room);
  return withoutEnd(name.slice(0, read)) + extension;
}
