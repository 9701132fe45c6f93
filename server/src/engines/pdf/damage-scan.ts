import { isDamagedFlate } from './flate-damage.ts';

/** A dictionary before a stream is at most this long; what lies further back is not looked at. */
const maxDictionaryBytes = 2048;
/** The end of a file stands in so many last bytes, as readers look for it. */
const endBytes = 2048;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** What a quick look at a file's bytes says: `unknown` when it is encrypted. */
export type ScanResult = 'sound' | 'suspicious' | 'unknown';

/**
 * Looks through a file for compressed data, other than images, that cannot be unpacked: page content, fonts, what maps
 * letters. Objects are not read, so a finding may be of an object that no page uses. Takes a small part of the time of
 * reading the pages.
 */
export function scanForDamage(file: Uint8Array): ScanResult {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  if (bytes.includes('/Encrypt')) return 'unknown';
  if (!bytes.subarray(-endBytes).includes('%%EOF')) return 'suspicious';
  for (let at = bytes.indexOf('stream'); at >= 0; at = bytes.indexOf('stream', at)) {
    const keyword = at;
    at += 'stream'.length;
    const start = dataStart(bytes, at);
    if (start === undefined || bytes.toString('latin1', keyword - 3, keyword) === 'end') continue;
    const dictionary = dictionaryBefore(bytes, keyword);
    if (dictionary === undefined) continue;
    const end = dataEnd(bytes, start, dictionary);
    if (end === undefined) return 'suspicious';
    at = end;
    if (isOfPages(dictionary) && isDamagedFlate(bytes.subarray(start, end))) return 'suspicious';
  }
  return 'sound';
}

function dataStart(bytes: Buffer, at: number): number | undefined {
  if (bytes[at] === lineFeed) return at + 1;
  if (bytes[at] === carriageReturn) return bytes[at + 1] === lineFeed ? at + 2 : at + 1;
  return undefined;
}

function dictionaryBefore(bytes: Buffer, keyword: number): string | undefined {
  if (!/>>\s*$/.test(bytes.toString('latin1', Math.max(0, keyword - 16), keyword))) return undefined;
  const text = bytes.toString('latin1', Math.max(0, keyword - maxDictionaryBytes), keyword);
  return text.slice(text.lastIndexOf(' obj') + 1);
}

/** Behind the length that the dictionary says, when `endstream` stands there; else at the next `endstream`. */
function dataEnd(bytes: Buffer, start: number, dictionary: string): number | undefined {
  const length = /\/Length\s+(\d{1,10})(?!\s+\d+\s+R)/.exec(dictionary)?.[1];
  const said = start + Number(length ?? bytes.length);
  if (/^\s*endstream/.test(bytes.toString('latin1', said, said + 12))) return said;
  const found = bytes.indexOf('endstream', start);
  return found < 0 ? undefined : found;
}

/** Flate data that shows on pages or says what does. Images are left to those who unpack them. */
function isOfPages(dictionary: string): boolean {
  return (
    /\/Filter\s*(?:\[\s*)?\/(?:FlateDecode|Fl)\b/.test(dictionary) &&
    !/\/Subtype\s*\/(?:Image|XML)\b|\/Type\s*\/(?:XRef|EmbeddedFile|Metadata)\b/.test(dictionary)
  );
}
