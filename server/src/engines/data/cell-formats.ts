/** Dates of spreadsheets: days since 1900 (or 1904) in a number whose format says that it is one. */

/** A number format without what it only shows: texts, escaped characters, colours, conditions. */
function bareFormat(format: string): string {
  const [first = ''] = format.split(';');
  return first.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '').toLowerCase();
}

/** Whether numbers of this format are dates or times. */
export function isDateFormat(format: string): boolean {
  const bare = bareFormat(format);
  return bare !== 'general' && /[dmyhs]/.test(bare) && !/[#?]/.test(bare);
}

const dayMs = 86_400_000;

/** A date as `2026-11-21`, with a time as `2026-11-21T10:30:00`, a time alone as `10:30:00`, a length of hours as `36:15:00`. */
export function isoOfSerial(serial: number, format: string, date1904: boolean): string {
  const bare = bareFormat(format);
  const ms = Math.round(serial * dayMs);
  if (!/[dy]/.test(bare) && !/mmm/.test(bare) && (serial < 1 || bare.includes('['))) return clock(ms);
  // Day 60 is 29 February 1900, which there never was: days before it are counted one short.
  const offset = date1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, serial < 60 ? 31 : 30);
  const moment = new Date(offset + ms);
  if (serial < 0 || Number.isNaN(moment.getTime()) || moment.getUTCFullYear() > 9999) return String(serial);
  const iso = moment.toISOString();
  return ms % dayMs === 0 ? iso.slice(0, 10) : iso.replace(/(?:\.000)?Z$/, '');
}

function clock(ms: number): string {
  const sign = ms < 0 ? '-' : '';
  const whole = Math.abs(ms);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const rest = whole % 1000 === 0 ? '' : `.${String(whole % 1000).padStart(3, '0')}`;
  return `${sign}${two(whole / 3_600_000)}:${two((whole / 60_000) % 60)}:${two((whole / 1000) % 60)}${rest}`;
}

/** Zeros that a format such as 00000 shows before a whole number: post codes keep theirs. */
export function padZeros(text: string, format: string): string {
  return /^0+$/.test(format) && /^\d+$/.test(text) ? text.padStart(format.length, '0') : text;
}

/** Formats that workbooks name by number only. */
const builtIn: Record<number, string> = {
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mmss.0',
};

/** The format of a built-in number; the East Asian ones from 27 to 36 and 50 to 58 are dates. */
export function builtInFormat(id: number): string {
  if ((id >= 27 && id <= 36) || (id >= 50 && id <= 58)) return 'yyyy-mm-dd';
  return builtIn[id] ?? '';
}
