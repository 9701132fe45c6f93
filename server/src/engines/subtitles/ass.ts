import { oldPlace, readAssText } from './ass-text.ts';
import { type Cue, type Look, type Place, clock, linesOf, markedText, plain, usualPlace } from './cue.ts';

interface Style extends Look {
  place: Place;
}

/** How plain text looks in a written file. */
export interface AssStyle {
  /** Height of letters on a picture `resolution.height` high. */
  fontSize: number;
  /** `#rrggbb`. */
  color: string;
  border: 'outline' | 'box' | 'none';
  resolution: { width: number; height: number };
}

const usualStyle: AssStyle = {
  fontSize: 24,
  color: '#ffffff',
  border: 'outline',
  resolution: { width: 854, height: 480 },
};

/** The fields of an event where no line says which. */
const usualFormat = ['layer', 'start', 'end', 'style', 'name', 'marginl', 'marginr', 'marginv', 'effect', 'text'];

/** Reads SubStation Alpha of either version: text, look and place; what else its styles say is left out. */
export function readAss(text: string): Cue[] {
  const cues: Cue[] = [];
  const styles = new Map<string, Style>();
  let section = '';
  let format = usualFormat;
  for (const line of linesOf(text)) {
    const header = /^\s*\[(.+)\]\s*$/.exec(line)?.[1];
    if (header !== undefined) {
      section = header.toLowerCase();
      format = usualFormat;
    }
    const [, kind = '', rest = ''] = /^(Format|Style|Dialogue)\s*:\s*(.*)$/i.exec(line) ?? [];
    if (kind.toLowerCase() === 'format') format = rest.split(',').map((name) => name.trim().toLowerCase());
    if (kind.toLowerCase() === 'style') addStyle(styles, fieldsOf(rest, format), !section.includes('+'));
    if (kind.toLowerCase() === 'dialogue') cues.push(...dialogue(fieldsOf(rest, format), styles));
  }
  return cues;
}

/** The last field takes the rest, commas and all. */
function fieldsOf(rest: string, format: readonly string[]): Record<string, string> {
  const values = rest.split(',');
  const last = format.length - 1;
  return Object.fromEntries(
    format.map((name, index) => [name, index === last ? values.slice(last).join(',') : (values[index] ?? '').trim()]),
  );
}

function addStyle(styles: Map<string, Style>, fields: Record<string, string>, isOld: boolean): void {
  const alignment = Number(fields['alignment'] ?? '2');
  const isOn = (name: string) => Number(fields[name] ?? '0') !== 0;
  styles.set(fields['name'] ?? '', {
    ...plain,
    italic: isOn('italic'),
    bold: isOn('bold'),
    underline: isOn('underline'),
    place: isOld ? oldPlace(alignment) : alignment >= 1 && alignment <= 9 ? (alignment as Place) : usualPlace,
  });
}

function dialogue(fields: Record<string, string>, styles: ReadonlyMap<string, Style>): Cue[] {
  const start = assTime(fields['start'] ?? '');
  const end = assTime(fields['end'] ?? '');
  if (start === undefined || end === undefined) return [];
  const name = (fields['style'] ?? '').replace(/^\*/, '');
  const { place: usual, ...look } = styles.get(name) ?? styles.get('Default') ?? { ...plain, place: usualPlace };
  const { runs, place } = readAssText(fields['text'] ?? '', look);
  return [{ start, end, runs, place: place ?? usual }];
}

function assTime(text: string): number | undefined {
  const match = /^(-?)(\d+):(\d{1,2}):(\d{1,2})[.:](\d{1,3})$/.exec(text);
  if (match === null) return undefined;
  const [, sign, hours, minutes, seconds, fraction = ''] = match;
  const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
  return (whole * 1000 + Number(fraction.padEnd(3, '0'))) * (sign === '-' ? -1 : 1);
}

function toAssColor(color: string, alpha = '00'): string {
  return `&H${alpha}${color.slice(5, 7)}${color.slice(3, 5)}${color.slice(1, 3)}`.toUpperCase();
}

function marksOf({ italic, bold, underline, color }: Look) {
  return [
    ...(color === undefined ? [] : [{ opens: `{\\c${toAssColor(color, '')}&}`, closes: '{\\c}' }]),
    ...(bold ? [{ opens: '{\\b1}', closes: '{\\b0}' }] : []),
    ...(italic ? [{ opens: '{\\i1}', closes: '{\\i0}' }] : []),
    ...(underline ? [{ opens: '{\\u1}', closes: '{\\u0}' }] : []),
  ];
}

/** A backslash before a letter would be a command: a word joiner, which is not seen, keeps them apart. */
function escape(text: string): string {
  return text
    .replaceAll(/\\(?=[Nnh{}])/g, '\\\u2060')
    .replaceAll(/[{}]/g, '\\$&')
    .replaceAll('\n', '\\N')
    .replaceAll('\u00a0', '\\h');
}

const formatLine =
  'Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, ' +
  'StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding';

function styleLine({ fontSize, color, border }: AssStyle): string {
  const outline = border === 'none' ? '0' : (fontSize / (border === 'box' ? 6 : 14)).toFixed(1);
  const lettering = toAssColor(color);
  const behind = toAssColor('#000000', border === 'box' ? '60' : '00');
  const style = border === 'box' ? 3 : 1;
  const margin = Math.round(fontSize * 0.8);
  return `Style: Default,Sans,${fontSize},${lettering},${lettering},${behind},&H80000000,0,0,0,0,100,100,0,0,${style},${outline},0,2,${margin},${margin},${margin},1`;
}

export function writeAss(cues: readonly Cue[], style: AssStyle = usualStyle): string {
  const { width, height } = style.resolution;
  const events = cues.map(({ start, end, place, runs }) => {
    const where = place === usualPlace ? '' : `{\\an${place}}`;
    return `Dialogue: 0,${assClock(start)},${assClock(end)},Default,,0,0,0,,${where}${markedText(runs, marksOf, escape)}`;
  });
  return [
    ...['[Script Info]', 'ScriptType: v4.00+', `PlayResX: ${width}`, `PlayResY: ${height}`],
    ...['ScaledBorderAndShadow: yes', 'WrapStyle: 0', '', '[V4+ Styles]', formatLine, styleLine(style), ''],
    ...['[Events]', 'Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text', ...events, ''],
  ].join('\n');
}

/** `1:02:03.04`: hundredths of a second. */
export function assClock(milliseconds: number): string {
  return clock(Math.round(milliseconds / 10) * 10, '.')
    .replace(/^0(?=\d:)/, '')
    .slice(0, -1);
}
