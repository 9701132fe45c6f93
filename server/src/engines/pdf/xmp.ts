import type { DocumentProperties } from './document-properties.ts';

/** How XMP calls a property: its namespace, its usual prefix, its name, and the list its values stand in. */
interface XmpName {
  space: string;
  prefix: string;
  name: string;
  list?: 'Alt' | 'Seq' | 'Bag';
}

const dc = { space: 'http://purl.org/dc/elements/1.1/', prefix: 'dc' };
const pdf = { space: 'http://ns.adobe.com/pdf/1.3/', prefix: 'pdf' };
const xmp = { space: 'http://ns.adobe.com/xap/1.0/', prefix: 'xmp' };

const names: Record<keyof DocumentProperties, XmpName> = {
  title: { ...dc, name: 'title', list: 'Alt' },
  author: { ...dc, name: 'creator', list: 'Seq' },
  subject: { ...dc, name: 'description', list: 'Alt' },
  keywords: { ...pdf, name: 'Keywords' },
  creator: { ...xmp, name: 'CreatorTool' },
  producer: { ...pdf, name: 'Producer' },
  created: { ...xmp, name: 'CreateDate' },
  modified: { ...xmp, name: 'ModifyDate' },
};
/** Keywords once more, as a list, and the time of the packet itself. */
const keywordList: XmpName = { ...dc, name: 'subject', list: 'Bag' };
const packetDate: XmpName = { ...xmp, name: 'MetadataDate' };

/** The text of a property, the first where there are several. */
export function xmpText(packet: string, key: keyof DocumentProperties): string | undefined {
  const name = qualified(packet, names[key]);
  const element = findElement(packet, name, 0);
  if (element === undefined) return attributeOf(packet, name);
  const item = names[key].list === undefined ? undefined : findElement(element.inner, 'rdf:li', 0);
  return unescapeXml((item?.inner ?? element.inner).trim());
}

export function xmpDate(packet: string, key: 'created' | 'modified'): string | undefined {
  const date = xmpText(packet, key);
  return date === undefined || Number.isNaN(Date.parse(date)) ? undefined : date;
}

/** The packet with these properties in place of its own; a new one where there is none that can be changed. */
export function updateXmp(packet: string | undefined, properties: DocumentProperties): string {
  const end = '</rdf:RDF>';
  // A packet that declares entities, or calls RDF otherwise, is no packet that this can change.
  const isUsable = packet !== undefined && !packet.includes('<!') && packet.includes(end);
  let changed = isUsable ? packet : emptyPacket;
  for (const name of [...Object.values(names), keywordList, packetDate])
    changed = without(changed, qualified(changed, name));
  const at = changed.lastIndexOf(end);
  return `${changed.slice(0, at)}${description(properties)}${changed.slice(at)}`;
}

const emptyPacket = `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
</rdf:RDF></x:xmpmeta>
<?xpacket end="w"?>`;

function description(properties: DocumentProperties): string {
  const spaces = [dc, pdf, xmp].map(({ prefix, space }) => `xmlns:${prefix}="${space}"`).join(' ');
  const keys = Object.keys(names) as (keyof DocumentProperties)[];
  const elements = keys.flatMap((key) => {
    const value = properties[key];
    return value === undefined ? [] : [elementOf(names[key], [value])];
  });
  const keywords = (properties.keywords ?? '')
    .split(/[,;]/)
    .map((word) => word.trim())
    .filter((word) => word !== '');
  if (keywords.length > 0) elements.push(elementOf(keywordList, keywords));
  if (properties.modified !== undefined) elements.push(elementOf(packetDate, [properties.modified]));
  return `<rdf:Description rdf:about="" ${spaces}>\n${elements.join('\n')}\n</rdf:Description>\n`;
}

function elementOf({ prefix, name, list }: XmpName, values: readonly string[]): string {
  const tag = `${prefix}:${name}`;
  if (list === undefined) return `<${tag}>${escapeXml(values.join(', '))}</${tag}>`;
  const language = list === 'Alt' ? ' xml:lang="x-default"' : '';
  const items = values.map((value) => `<rdf:li${language}>${escapeXml(value)}</rdf:li>`).join('');
  return `<${tag}><rdf:${list}>${items}</rdf:${list}></${tag}>`;
}

/** The name with the prefix that a packet gives its namespace. */
function qualified(packet: string, { space, prefix, name }: XmpName): string {
  for (const quote of ['"', "'"]) {
    const at = packet.indexOf(`=${quote}${space}${quote}`);
    const declared = /xmlns:([\w.-]{1,32})\s{0,4}$/.exec(packet.slice(Math.max(0, at - 50), Math.max(0, at)))?.[1];
    if (declared !== undefined) return `${declared}:${name}`;
  }
  return `${prefix}:${name}`;
}

interface Element {
  start: number;
  end: number;
  inner: string;
}

/** The first element of a name at or after `from`. Goes through the text once: a broken packet costs no more. */
function findElement(text: string, name: string, from: number): Element | undefined {
  for (let start = text.indexOf(`<${name}`, from); start !== -1; start = text.indexOf(`<${name}`, start + 1)) {
    if (!/[\s/>]/.test(text[start + name.length + 1] ?? '')) continue;
    const open = text.indexOf('>', start);
    if (open === -1) return undefined;
    if (text[open - 1] === '/') return { start, end: open + 1, inner: '' };
    const close = text.indexOf(`</${name}>`, open);
    if (close === -1) return undefined;
    return { start, end: close + name.length + 3, inner: text.slice(open + 1, close) };
  }
  return undefined;
}

/** A property may be an attribute of its description. */
function attributePattern(name: string): RegExp {
  return new RegExp(`\\s${name.replaceAll('.', String.raw`\.`)}\\s{0,4}=\\s{0,4}(?:"([^"<]*)"|'([^'<]*)')`);
}

function attributeOf(text: string, name: string): string | undefined {
  const match = attributePattern(name).exec(text);
  return match === null ? undefined : unescapeXml(match[1] ?? match[2] ?? '');
}

function without(packet: string, name: string): string {
  const parts: string[] = [];
  let from = 0;
  for (let element = findElement(packet, name, 0); element !== undefined; element = findElement(packet, name, from)) {
    parts.push(packet.slice(from, element.start));
    from = element.end;
  }
  parts.push(packet.slice(from));
  return parts.join('').replaceAll(new RegExp(attributePattern(name), 'g'), '');
}

function escapeXml(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\uFFFE\uFFFF]/gu, (sign) => (sign === '\n' || sign === '\t' ? sign : ''))
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g,
    (whole, decimal, hexadecimal, name) => {
      if (typeof name === 'string') return entities[name] ?? whole;
      const code = typeof decimal === 'string' ? Number(decimal) : Number.parseInt(String(hexadecimal), 16);
      return code <= 0x10_ff_ff ? String.fromCodePoint(code) : '';
    },
  );
}
