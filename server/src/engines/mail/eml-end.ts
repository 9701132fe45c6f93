/** The part of a message that the text is in. */
interface Part {
  mediaType: string;
  encoding: string;
  /** Where its body begins; undefined when its header does not end. */
  body: number | undefined;
}

/** No real message has parts within parts this deep: what would be deeper opens nothing more. */
const mostDepth = 100;

/**
 * True for a message that breaks off inside a part, as a download or a mailbox does that was cut. Some programs leave the
 * last boundary away: then the part must end as its coding wants it.
 *
 * @param bytes of a message of the internet (RFC 5322), headers included.
 */
export function breaksOff(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const open: string[] = [];
  let part: Part | undefined = partAt(text, 0, open);
  let from = part.body ?? text.length;
  for (let at = text.indexOf('\n--', from - 1); at >= 0; at = text.indexOf('\n--', from - 1)) {
    const end = lineEnd(text, at + 1);
    const line = text.slice(at + 1, end).trimEnd();
    const isLast = line.endsWith('--') && open.includes(line.slice(2, -2));
    const depth = open.lastIndexOf(isLast ? line.slice(2, -2) : line.slice(2));
    from = end;
    if (depth < 0) continue;
    open.length = isLast ? depth : depth + 1;
    part = isLast ? undefined : partAt(text, end, open);
    from = part?.body ?? end;
  }
  if (part === undefined) return false;
  if (part.body === undefined) return open.length > 0;
  return isCut(text.slice(part.body), part, open.length === 0);
}

/** Behind the line that holds `at`. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

/** Reads the header that begins at `start`; a boundary that it names is opened. */
function partAt(text: string, start: number, open: string[]): Part {
  for (let at = start; ;) {
    const { header, body } = headerAt(text, at, open);
    const type = field(header, 'content-type');
    const mediaType = /^[^\s;]+/.exec(type)?.[0].toLowerCase() ?? 'text/plain';
    const encoding = field(header, 'content-transfer-encoding').trim().toLowerCase();
    const [, quoted, plain] = /;\s*boundary\s*=\s*(?:"([^"]+)"|([^\s;"]+))/i.exec(type) ?? [];
    const boundary = quoted ?? plain;
    if (mediaType.startsWith('multipart/') && boundary !== undefined && open.length < mostDepth) {
      open.push(boundary.trimEnd());
    }
    const isMessage = mediaType === 'message/rfc822' && encoding !== 'base64' && encoding !== 'quoted-printable';
    if (!isMessage || body === undefined) return { mediaType, encoding, body };
    at = body;
  }
}

/** A header that runs into an open boundary ends there, without a body. */
function headerAt(text: string, start: number, open: readonly string[]): { header: string; body: number | undefined } {
  let at = start;
  while (at < text.length) {
    const end = lineEnd(text, at);
    if (text.startsWith('--', at) && isBoundary(text.slice(at + 2, end).trimEnd(), open)) break;
    if (text[at] === '\n' || text.startsWith('\r\n', at)) return { header: text.slice(start, at), body: end };
    at = end;
  }
  return { header: text.slice(start, at), body: undefined };
}

/** True for what follows the dashes of a line that begins or ends an open part. */
function isBoundary(line: string, open: readonly string[]): boolean {
  return open.includes(line) || (line.endsWith('--') && open.includes(line.slice(0, -2)));
}

function field(header: string, name: string): string {
  const unfolded = header.replaceAll(/\r?\n[ \t]+/g, ' ');
  return new RegExp(`^${name}[ \\t]*:[ \\t]*(.*)$`, 'im').exec(unfolded)?.[1] ?? '';
}

function isCut(body: string, { mediaType, encoding }: Part, isOnlyPart: boolean): boolean {
  if (encoding === 'base64') return isCutBase64(body, isOnlyPart);
  // A single part ends wherever its file does: nothing tells that there was more.
  if (isOnlyPart || mediaType.startsWith('multipart/') || body.trim() === '') return false;
  if (encoding === 'quoted-printable' && /=[0-9A-Fa-f]?\s*$/.test(body)) return true;
  const html = mediaType === 'text/html' ? body.replaceAll(/=\r?\n/g, '') : '';
  if (/<html[\s>]/i.test(html) && !/<\/html\s*>/i.test(html)) return true;
  return !body.endsWith('\n');
}

/** Most programs write base64 in lines of this length. */
const fullLine = 76;

/** Base64 that is whole is of fours, and its last line is shorter than the others, or closed by `=`. */
function isCutBase64(body: string, isOnlyPart: boolean): boolean {
  const lines = body.trim().split(/\s+/);
  const data = lines.join('');
  if (data === '' || data.endsWith('=') || !/^[A-Za-z0-9+/]*$/.test(data)) return false;
  if (data.length % 4 !== 0) return true;
  if (isOnlyPart) return false;
  return !body.endsWith('\n') || lines.at(-1)?.length === (lines.length > 1 ? lines[0]?.length : fullLine);
}
