import { choice, flag, text } from '../settings.ts';

/** Delimiters a form offers, by the names that can be written in one. */
const delimiterNames = { auto: 'auto', ',': ',', ';': ';', tab: '\t', '|': '|' } as const;
type DelimiterName = keyof typeof delimiterNames;

/** The character a delimiter's name stands for. */
export function delimiterOf(name: string): string {
  return name === 'tab' ? '\t' : name;
}

/** What stands between the columns of a table to be read. */
export const readDelimiter = choice({
  describe: 'What stands between two columns; auto looks at the first records.',
  of: Object.keys(delimiterNames) as DelimiterName[],
  default: 'auto',
});

/** What stands between the columns of a table to be written. */
export const writeDelimiter = text({
  describe: 'What stands between two columns: one character, or tab.',
  default: ',',
  max: 3,
  // oxlint-disable-next-line no-control-regex -- the tabulator is allowed, other control characters are not
  pattern: /^(tab|[^"\x00-\x08\x0a-\x1f\x7f])$/u,
  patternHint: 'must be one character that is no quote, or tab',
});

export const readEncoding = choice({
  describe:
    'How the text is encoded; auto tells Unicode and windows-1252 and, by more text, Cyrillic and East Asian encodings.',
  of: [
    'auto',
    'utf-8',
    'utf-16le',
    'utf-16be',
    'windows-1252',
    'iso-8859-1',
    'iso-8859-2',
    'iso-8859-15',
    'windows-1250',
    'windows-1251',
    'windows-1253',
    'windows-1254',
    'koi8-r',
    'macintosh',
    'shift_jis',
    'euc-jp',
    'gb18030',
    'big5',
    'euc-kr',
  ],
  default: 'auto',
});

export const escapeFormulas = flag({
  describe: 'Put an apostrophe before text that a spreadsheet would run as a formula.',
  default: false,
});

export const byteOrderMark = flag({
  describe: 'Begin with a byte order mark, by which Excel knows UTF-8.',
  default: false,
});
