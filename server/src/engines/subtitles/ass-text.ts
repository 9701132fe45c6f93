import { type Cue, type Look, type Place, RunList, usualPlace } from './cue.ts';

/** What one group of overrides, `{\i1\an8}`, does to what follows. */
export function readOverrides(
  group: string,
  look: Look,
  style: Look,
): { look: Look; place?: Place; drawing?: boolean } {
  const result: { look: Look; place?: Place; drawing?: boolean } = { look: { ...look } };
  for (const override of group.split('\\').slice(1)) {
    const [, name = '', value = ''] = /^(an|a|i|b|u|1c|c|r|p(?=\d))(.*)$/.exec(override.trim()) ?? [];
    switch (name) {
      case 'i':
        if (/^[01]?$/.test(value)) result.look.italic = value === '' ? style.italic : value === '1';
        break;
      case 'b':
        if (/^\d*$/.test(value)) result.look.bold = value === '' ? style.bold : value === '1' || Number(value) > 500;
        break;
      case 'u':
        if (/^[01]?$/.test(value)) result.look.underline = value === '1';
        break;
      case 'c':
      case '1c':
        if (value === '' || value.startsWith('&')) result.look.color = assColor(value) ?? style.color;
        break;
      case 'r':
        result.look = { ...style };
        break;
      case 'an':
        if (/^[1-9]$/.test(value)) result.place = Number(value) as Place;
        break;
      case 'a':
        if (/^\d+$/.test(value)) result.place = oldPlace(Number(value));
        break;
      case 'p':
        result.drawing = value !== '0';
    }
  }
  return result;
}

/** Alignment as SSA had it: 1 to 3 at the bottom, 4 more at the top, 8 more in the middle. */
export function oldPlace(value: number): Place {
  const column = ((value - 1) & 3) + 1;
  if (column > 3) return usualPlace;
  return (column + ((value & 4) !== 0 ? 6 : (value & 8) !== 0 ? 3 : 0)) as Place;
}

/** `&HBBGGRR&` as `#rrggbb`. */
export function assColor(value: string): string | undefined {
  const digits = /^&H([\da-f]{1,8})&?$/i.exec(value.trim())?.[1]?.padStart(6, '0').slice(-6).toLowerCase();
  return digits === undefined ? undefined : `#${digits.slice(4)}${digits.slice(2, 4)}${digits.slice(0, 2)}`;
}

/** Text of a dialogue line; drawings are left out. */
export function readAssText(text: string, style: Look): { runs: Cue['runs']; place: Place | undefined } {
  const list = new RunList();
  let look = style;
  let place: Place | undefined;
  let isDrawing = false;
  const parts = text.split(/(?<!\\)\{([^}]*)\}/);
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 0) {
      if (!isDrawing) list.add(unescape(part), look);
      continue;
    }
    const read = readOverrides(part, look, style);
    look = read.look;
    place ??= read.place;
    isDrawing = read.drawing ?? isDrawing;
  }
  return { runs: list.runs, place };
}

function unescape(text: string): string {
  return text.replaceAll(/\\([Nnh{}])/g, (_, character: string) => {
    if (character === 'h') return '\u00a0';
    return character === 'N' || character === 'n' ? '\n' : character;
  });
}
