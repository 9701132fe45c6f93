import { type Cue, type Look, RunList, linesOf, plain, usualPlace } from './cue.ts';

/** The frame rate of films, where the file does not tell its own. */
const filmRate = 24_000 / 1001;

/** Reads MicroDVD, whose times are numbers of frames: of `fps` a second, or as the first line says. */
export function readMicroDvd(text: string, fps: number | undefined): Cue[] {
  const lines = linesOf(text).flatMap((line) => {
    const [, start, end, rest = ''] = /^\s*\{(\d{1,9})\}\{(\d{0,9})\}(.*)$/.exec(line) ?? [];
    return start === undefined ? [] : [{ start: Number(start), end: end === '' ? 0 : Number(end), rest }];
  });
  const [first] = lines;
  const told = first !== undefined && first.start <= 1 && first.end <= 1 ? Number(first.rest.trim()) : Number.NaN;
  const isRate = told >= 1 && told <= 240;
  const rate = fps ?? (isRate ? told : filmRate);
  const toTime = (frame: number) => (frame / rate) * 1000;
  return lines.slice(isRate ? 1 : 0).map(({ start, end, rest }) => ({
    start: toTime(start),
    end: toTime(end),
    place: usualPlace,
    runs: readText(rest),
  }));
}

/** `{y:i}` is for one line, `{Y:i}` for all of them. */
function readText(text: string): Cue['runs'] {
  const list = new RunList();
  let whole: Look = plain;
  for (const [index, line] of text.split('|').entries()) {
    const { look, rest } = lookOf(line);
    const own = merged(whole, look.own);
    whole = merged(whole, look.all);
    const isSlanted = rest.startsWith('/');
    list.add(`${index === 0 ? '' : '\n'}${isSlanted ? rest.slice(1) : rest}`, {
      ...merged(own, look.all),
      ...(isSlanted ? { italic: true } : {}),
    });
  }
  return list.runs;
}

type Partly = Partial<Look>;

function merged(look: Look, changes: Partly): Look {
  return { ...look, ...changes };
}

function lookOf(line: string): { look: { own: Partly; all: Partly }; rest: string } {
  const look: { own: Partly; all: Partly } = { own: {}, all: {} };
  const rest = line.replaceAll(/\{([a-z]):([^{}]*)\}/gi, (_, name: string, value: string) => {
    const target = name === name.toUpperCase() ? look.all : look.own;
    if (name.toLowerCase() === 'y') {
      const letters = value.toLowerCase();
      if (letters.includes('i')) target.italic = true;
      if (letters.includes('b')) target.bold = true;
      if (letters.includes('u')) target.underline = true;
    }
    const color = /^\$([\da-f]{2})([\da-f]{2})([\da-f]{2})$/i.exec(value);
    if (name.toLowerCase() === 'c' && color !== null) {
      target.color = `#${color[3]}${color[2]}${color[1]}`.toLowerCase();
    }
    return '';
  });
  return { look, rest };
}
