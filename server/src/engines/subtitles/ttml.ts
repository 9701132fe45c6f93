import { Failure } from '../../lib/failure.ts';
import { type Cue, type Look, type Place, type Run, RunList, clock, plain, usualPlace } from './cue.ts';
import { namedColor } from './srt.ts';

/** An element as fast-xml-parser gives it with `preserveOrder`: one key beside its attributes, `:@`. */
type XmlNode = { [name: string]: XmlNode[] | string | Attributes };
type Attributes = Record<string, string>;

const readerOptions = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  removeNSPrefix: true,
  // References by number, such as &#233;, are among them.
  htmlEntities: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
};

interface Element {
  name: string;
  attributes: Attributes;
  children: XmlNode[];
}

function elementOf(node: XmlNode): Element | undefined {
  const name = Object.keys(node).find((key) => key !== ':@' && key !== '#text');
  if (name === undefined) return undefined;
  return { name, attributes: (node[':@'] ?? {}) as Attributes, children: node[name] as XmlNode[] };
}

function* descendants(nodes: readonly XmlNode[], name: string): Generator<Element> {
  for (const node of nodes) {
    const element = elementOf(node);
    if (element === undefined) continue;
    if (element.name === name) yield element;
    yield* descendants(element.children, name);
  }
}

interface Sheet {
  styles: ReadonlyMap<string, Attributes>;
  regions: ReadonlyMap<string, Attributes>;
  frameRate: number;
  tickRate: number;
}

/**
 * Reads TTML: text, look and place of its paragraphs, with times in all their notations.
 *
 * @throws Failure `invalid_input` for what is no XML.
 */
export async function readTtml(text: string, filename: string): Promise<Cue[]> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  const valid = XMLValidator.validate(text);
  const wrong = (detail: string) =>
    new Failure('invalid_input', `"${filename}" is not well-formed XML: ${detail}.`, { file: filename });
  if (valid !== true) throw wrong(`line ${valid.err.line}: ${valid.err.msg.replace(/\.$/, '')}`);
  let nodes: XmlNode[];
  try {
    nodes = new XMLParser(readerOptions).parse(text) as XmlNode[];
  } catch (error) {
    throw wrong(String(error instanceof Error ? error.message : error));
  }
  const [root] = descendants(nodes, 'tt');
  if (root === undefined) return [];
  const rates = root.attributes;
  const [over = 1, under = 1] = (rates['frameRateMultiplier'] ?? '1 1').split(/[ :]/).map(Number);
  const frameRate = Number(rates['frameRate'] ?? '30') * (over / under || 1);
  const sheet: Sheet = {
    styles: byId(descendants(root.children, 'style')),
    regions: byId(descendants(root.children, 'region')),
    frameRate,
    tickRate: Number(rates['tickRate'] ?? '0') || frameRate,
  };
  const cues: Cue[] = [];
  for (const body of descendants(root.children, 'body'))
    collect(body, { start: 0, end: undefined, place: usualPlace, look: plain }, sheet, cues);
  return cues;
}

function byId(elements: Iterable<Element>): Map<string, Attributes> {
  const found = new Map<string, Attributes>();
  for (const { attributes, children } of elements) {
    const merged: Attributes = {};
    for (const child of children) {
      const element = elementOf(child);
      if (element?.name === 'style') Object.assign(merged, element.attributes);
    }
    Object.assign(merged, attributes);
    if (attributes['id'] !== undefined) found.set(attributes['id'], merged);
  }
  return found;
}

interface Surroundings {
  start: number;
  end: number | undefined;
  place: Place;
  look: Look;
}

/** Paragraphs of a body or division; their times count from those around them. */
function collect(element: Element, around: Surroundings, sheet: Sheet, cues: Cue[]): void {
  const own = inside(element, around, sheet);
  if (element.name !== 'p') {
    for (const node of element.children) {
      const child = elementOf(node);
      if (child !== undefined && ['div', 'p'].includes(child.name)) collect(child, own, sheet, cues);
    }
    return;
  }
  const list = new RunList();
  const timed: Cue[] = [];
  readInline(element.children, own, { sheet, list, timed, keepsSpace: element.attributes['space'] === 'preserve' });
  if (list.runs.some(({ text }) => text.trim() !== ''))
    timed.push({ ...own, end: own.end ?? 0, runs: tidySpace(list.runs) });
  cues.push(...timed);
}

function inside({ attributes }: Element, around: Surroundings, sheet: Sheet): Surroundings {
  const { begin, end, dur, region } = attributes;
  const start = around.start + (timeOf(begin, sheet) ?? 0);
  const length = timeOf(dur, sheet);
  const told = timeOf(end, sheet);
  const until = told !== undefined ? around.start + told : length !== undefined ? start + length : around.end;
  const area = region === undefined ? undefined : sheet.regions.get(region);
  const place = area === undefined ? around.place : placeOf(styled(area, sheet));
  return { start, end: until, place, look: lookOf(styled(attributes, sheet), around.look) };
}

interface Reading {
  sheet: Sheet;
  list: RunList;
  /** Spans with times of their own. */
  timed: Cue[];
  keepsSpace: boolean;
}

function readInline(nodes: readonly XmlNode[], around: Surroundings, reading: Reading): void {
  const { sheet, list, timed, keepsSpace } = reading;
  for (const node of nodes) {
    if (typeof node['#text'] === 'string') {
      list.add(keepsSpace ? node['#text'] : node['#text'].replaceAll(/\s+/g, ' '), around.look);
      continue;
    }
    const element = elementOf(node);
    if (element?.name === 'br') list.add('\n', around.look);
    if (element?.name !== 'span') continue;
    const own = inside(element, around, sheet);
    if (element.attributes['begin'] === undefined) {
      readInline(element.children, own, reading);
      continue;
    }
    const part = new RunList();
    readInline(element.children, own, { ...reading, list: part });
    timed.push({ ...own, end: own.end ?? 0, runs: tidySpace(part.runs) });
  }
}

/** White space of the source at the ends of lines is none of the text's. */
function tidySpace(runs: readonly Run[]): Run[] {
  const list = new RunList();
  let atLineStart = true;
  for (const run of runs) {
    const text = run.text.replaceAll(/ *\n */g, '\n');
    list.add(atLineStart ? text.replace(/^ +/, '') : text, run);
    if (text !== '') atLineStart = text.endsWith('\n');
  }
  return list.runs;
}

/** Attributes with those of the styles they name. */
function styled(attributes: Attributes, sheet: Sheet, depth = 0): Attributes {
  const merged: Attributes = {};
  for (const name of (attributes['style'] ?? '').split(/\s+/)) {
    const style = sheet.styles.get(name);
    // Styles may name styles; a circle of them must end.
    if (style !== undefined) Object.assign(merged, depth > 4 ? style : styled(style, sheet, depth + 1));
  }
  return Object.assign(merged, attributes);
}

function lookOf({ fontStyle, fontWeight, textDecoration, color }: Attributes, around: Look): Look {
  return {
    italic: fontStyle === undefined ? around.italic : fontStyle === 'italic' || fontStyle === 'oblique',
    bold: fontWeight === undefined ? around.bold : fontWeight === 'bold',
    underline: textDecoration === undefined ? around.underline : textDecoration === 'underline',
    color: color === undefined ? around.color : seenColor(color),
  };
}

/** White is what text has without a colour. */
function seenColor(color: string): string | undefined {
  const known = namedColor(color);
  return known === '#ffffff' ? undefined : known;
}

function placeOf({ displayAlign, textAlign, origin }: Attributes): Place {
  const top = Number(/^[\d.]+%\s+([\d.]+)%/.exec(origin ?? '')?.[1] ?? Number.NaN);
  const row = displayAlign === 'before' && !(top >= 50) ? 2 : displayAlign === 'center' && !(top >= 50) ? 1 : 0;
  const column = ['start', 'left'].includes(textAlign ?? '') ? 0 : ['end', 'right'].includes(textAlign ?? '') ? 2 : 1;
  return (row * 3 + column + 1) as Place;
}

const unitMilliseconds: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 };

/** `00:01:02.5`, `00:01:02:12` (frames) or `62.5s`, in milliseconds. */
function timeOf(text: string | undefined, { frameRate, tickRate }: Sheet): number | undefined {
  const offset = /^\s*(\d+(?:\.\d+)?)(h|ms|m|s|f|t)\s*$/.exec(text ?? '');
  if (offset !== null) {
    const value = Number(offset[1]);
    if (offset[2] === 'f') return (value / frameRate) * 1000;
    return offset[2] === 't' ? (value / tickRate) * 1000 : value * (unitMilliseconds[offset[2] ?? ''] ?? 0);
  }
  const [, hours, minutes, seconds, frames = '0'] =
    /^\s*(\d+):(\d\d):(\d\d(?:\.\d+)?)(?::(\d+))?/.exec(text ?? '') ?? [];
  if (hours === undefined) return undefined;
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + (Number(frames) / frameRate) * 1000;
}

const rows = ['after', 'center', 'before'];
const columns = ['start', 'center', 'end'];

/** Writes TTML with a region for every place that is used. */
export async function writeTtml(cues: readonly Cue[]): Promise<string> {
  const { XMLBuilder } = await import('fast-xml-parser');
  const places = [...new Set(cues.map(({ place }) => place))].toSorted((a, b) => a - b);
  const regions = places.map((place) => ({
    region: [],
    ':@': {
      'xml:id': `place${place}`,
      'tts:origin': '5% 5%',
      'tts:extent': '90% 90%',
      'tts:displayAlign': rows[Math.floor((place - 1) / 3)] ?? 'after',
      'tts:textAlign': columns[(place - 1) % 3] ?? 'center',
    },
  }));
  const paragraphs = cues.map(({ start, end, place, runs }) => ({
    p: runs.flatMap(spans),
    ':@': { begin: clock(start, '.'), end: clock(end, '.'), region: `place${place}` },
  }));
  const document = {
    tt: [{ head: [{ layout: regions }] }, { body: [{ div: paragraphs }] }],
    ':@': {
      xmlns: 'http://www.w3.org/ns/ttml',
      'xmlns:tts': 'http://www.w3.org/ns/ttml#styling',
      'xml:lang': '',
    },
  };
  const builder = new XMLBuilder({
    preserveOrder: true,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    suppressEmptyNode: true,
  });
  const xml = String(builder.build([document])).replaceAll(/(<\/p>|<head>|<body>|<region [^>]*>)/g, '$1\n');
  return `<?xml version="1.0" encoding="UTF-8"?>\n${xml}\n`;
}

function spans({ text, italic, bold, underline, color }: Run): object[] {
  const pieces = text
    // Characters XML has no place for.
    // oxlint-disable-next-line no-control-regex -- they are what is taken out
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .split('\n')
    .flatMap((line, index) => [...(index === 0 ? [] : [{ br: [] }]), ...(line === '' ? [] : [{ '#text': line }])]);
  const attributes = {
    ...(italic ? { 'tts:fontStyle': 'italic' } : {}),
    ...(bold ? { 'tts:fontWeight': 'bold' } : {}),
    ...(underline ? { 'tts:textDecoration': 'underline' } : {}),
    ...(color === undefined ? {} : { 'tts:color': color }),
  };
  return Object.keys(attributes).length === 0 ? pieces : [{ span: pieces, ':@': attributes }];
}
