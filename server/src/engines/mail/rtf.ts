import iconv from 'iconv-lite';

/*
 * The two forms of RTF in Outlook's files: text that was written as RTF, and HTML that was wrapped into it ([MS-OXRTFEX]).
 * Of the first the text is taken, of the second the HTML comes out as it went in.
 */

/** What the dictionary of [MS-OXRTFCP] holds at the start. */
const preset =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbol' +
  'ArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';
const dictionaryBytes = 4096;
const compressed = 0x75465a4c;
const uncompressed = 0x414c454d;
/** A mail's text beyond this is no mail's text. */
const mostBytes = 50_000_000;

/** Unpacks RTF as Outlook stores it. @throws Error when it is damaged. */
export function decompressRtf(data: Buffer): Buffer {
  const size = data.readUInt32LE(4);
  const kind = data.readUInt32LE(8);
  if (kind === uncompressed) return data.subarray(16, 16 + size);
  if (kind !== compressed || size > mostBytes) throw new Error('This is no compressed RTF.');
  const dictionary = Buffer.alloc(dictionaryBytes, 0x20);
  let end = dictionary.write(preset, 'latin1');
  const output = Buffer.alloc(size);
  let written = 0;
  const put = (byte: number) => {
    if (written < size) output[written++] = byte;
    dictionary[end++ % dictionaryBytes] = byte;
  };
  for (let at = 16; at < data.length && written < size;) {
    const control = data[at++] ?? 0;
    for (let bit = 0; bit < 8 && at < data.length; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(data[at++] ?? 0);
        continue;
      }
      const reference = data.readUInt16BE(at);
      at += 2;
      const offset = reference >> 4;
      if (offset === end % dictionaryBytes) return output.subarray(0, written);
      const length = (reference & 0xf) + 2;
      for (let step = 0; step < length; step++) put(dictionary[(offset + step) % dictionaryBytes] ?? 0);
    }
  }
  return output.subarray(0, written);
}

/** Groups whose content is no text of the message. */
const destinations = new Set(
  'fonttbl colortbl stylesheet info pict object generator listtable listoverridetable themedata datastore header footer'.split(
    ' ',
  ),
);
const characters: Record<string, string> = {
  par: '\n',
  line: '\n',
  sect: '\n',
  page: '\n',
  row: '\n',
  tab: '\t',
  cell: '\t',
  lquote: '‘',
  rquote: '’',
  ldblquote: '“',
  rdblquote: '”',
  bullet: '•',
  endash: '–',
  emdash: '—',
};

interface Group {
  /** Its text is not shown. */
  hidden: boolean;
  /** It holds a piece of the wrapped HTML. */
  tag: boolean;
  /** `\htmlrtf`: only for readers that know no HTML. */
  rtfOnly: boolean;
  /** Characters after `\u` that stand in for it. */
  fallback: number;
}

const pattern = /\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/gi;

/** The HTML that was wrapped, or the text. */
export function rtfToMail(rtf: Buffer): { html: string | undefined; text: string | undefined } {
  const source = rtf.toString('latin1');
  const wrapped = /\\fromhtml1?\b/.test(source.slice(0, 2000));
  const codePage = /\\ansicpg(\d+)/.exec(source)?.[1] ?? '1252';
  const encoding = iconv.encodingExists(`cp${codePage}`) ? `cp${codePage}` : 'windows-1252';
  const groups: Group[] = [];
  let group: Group = { hidden: false, tag: false, rtfOnly: false, fallback: 1 };
  let output = '';
  let bytes: number[] = [];
  let skip = 0;
  const flush = () => {
    if (bytes.length === 0) return;
    const text = iconv.decode(Buffer.from(bytes), encoding);
    bytes = [];
    output += text;
  };
  const write = (text: string) => {
    if (group.hidden || group.rtfOnly) return;
    flush();
    output += text;
  };
  const writeText = (text: string) => write(wrapped && !group.tag ? escapeText(text) : text);
  for (const [, word, number, hex, symbol, brace, plain] of source.matchAll(pattern)) {
    if (brace === '{') groups.push({ ...group });
    else if (brace === '}') group = groups.pop() ?? group;
    else if (hex !== undefined) {
      if (skip > 0) skip -= 1;
      else if (!group.hidden && !group.rtfOnly) bytes.push(Number.parseInt(hex, 16));
    } else if (plain !== undefined) {
      const left = plain.slice(skip);
      skip = Math.max(0, skip - plain.length);
      writeText(iconv.decode(Buffer.from(left, 'latin1'), encoding));
    } else if (symbol === '*') group.hidden = true;
    else if (symbol !== undefined)
      write(symbol === '~' ? '\u00a0' : symbol === '_' ? '-' : /[\\{}]/.test(symbol) ? symbol : '');
    else if (word !== undefined) control(word, number);
  }
  flush();
  const found = output.trim() === '' ? undefined : output.trim();
  return wrapped ? { html: found, text: undefined } : { html: undefined, text: found };

  function control(word: string, number: string | undefined): void {
    if (word === 'htmltag') group = { ...group, hidden: false, tag: true };
    else if (word === 'htmlrtf') group.rtfOnly = number !== '0';
    else if (destinations.has(word)) group.hidden = true;
    else if (word === 'uc') group.fallback = Number(number ?? 1);
    else if (word === 'u') {
      writeText(String.fromCharCode(Number(number ?? 0) & 0xffff));
      skip = group.fallback;
    } else write(characters[word] ?? '');
  }
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
