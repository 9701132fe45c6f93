import { escapeHtml } from '../lib/escape-html.ts';
import { contains } from './page-structure/words.ts';
import type { ContentCharacter, PageContent } from './pdfium-content.ts';
import type { TextStyle } from './pdfium-fonts.ts';
import type { PdfReader, RenderedPage } from './pdfium.ts';
import { loadSharp } from './sharp.ts';

/** What a page shows besides its text, as a picture. */
export interface Backdrop {
  format: 'png' | 'jpeg';
  data: Buffer;
}

const backdropDpi = 144;
/** A larger PNG is a photo: JPEG holds it in a fraction. */
const largePng = 250_000;

/** Pictures and drawings of a page without its text; undefined when there are none. */
export async function backdropOf(reader: PdfReader, page: number): Promise<Backdrop | undefined> {
  const { width, height } = reader.pageSize(page);
  const dpi = Math.max(18, Math.min(backdropDpi, Math.floor(72 * Math.sqrt(24_000_000 / Math.max(1, width * height)))));
  const rendered = reader.render(page, { dpi, transparent: false, withoutText: true });
  if (isBlank(rendered)) return undefined;
  const sharp = await loadSharp();
  const image = sharp(rendered.pixels, { raw: rendered }).removeAlpha();
  const png = await image.clone().png().toBuffer();
  if (png.length <= largePng) return { format: 'png', data: png };
  const jpeg = await image.jpeg({ quality: 85 }).toBuffer();
  return jpeg.length < png.length ? { format: 'jpeg', data: jpeg } : { format: 'png', data: png };
}

function isBlank({ pixels }: RenderedPage): boolean {
  for (const value of pixels) if (value <= 250) return false;
  return true;
}

export function htmlHead(title: string): string {
  return `<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="script-src 'none'; object-src 'none'">
<title>${escapeHtml(title)}</title>
<style>
body { margin: 0; background: #ddd; }
svg { display: block; margin: 12px auto; max-width: 100%; height: auto; background: #fff; box-shadow: 0 1px 4px #0006; }
text { white-space: pre; }
@media print { body { background: none; } svg { margin: 0; box-shadow: none; break-after: page; } }
</style>
</head>
<body>
`;
}

export const htmlEnd = '</body>\n</html>\n';

/** A page as a drawing: the picture behind, and over it text that can be selected, at its place and as wide as it was. */
export function htmlPage(content: PageContent, page: number, backdrop: string | undefined): string {
  const [width, height] = [round(content.width), round(content.height)];
  const image =
    backdrop === undefined ? '' : `<image href="${escapeHtml(backdrop)}" width="${width}" height="${height}"/>\n`;
  const pieces = piecesOf(content).map(drawPiece).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" id="page-${page + 1}" role="document" aria-label="Page ${page + 1}" width="${width}pt" height="${height}pt" viewBox="0 0 ${width} ${height}">\n${image}${pieces}\n</svg>\n`;
}

/** A wider gap than this, in letter sizes, is no usual space: what follows gets a place of its own. */
const widestGap = 0.42;

/** Text of one look along one line. */
interface Piece {
  text: string;
  x: number;
  y: number;
  /** Points along the line. */
  length: number;
  angle: number;
  style: TextStyle;
  link: string | undefined;
}

function piecesOf({ characters, links }: PageContent): Piece[] {
  const pieces: Piece[] = [];
  let current: Piece | undefined;
  for (const character of characters) {
    const text = readable(character);
    if (text === '') continue;
    if (text.trim() === '') {
      if (current !== undefined && !current.text.endsWith(' ')) current.text += ' ';
      if (character.isGenerated && /[\r\n]/.test(character.text)) current = undefined;
      continue;
    }
    const link = links.find((candidate) => contains(candidate, character))?.address;
    if (current !== undefined && continues(current, character, link)) {
      current.text += text;
      current.length = endOf(current, character);
      continue;
    }
    const { origin, baseline, angle, style } = character;
    current = { text, x: origin, y: baseline, length: 0, angle, style, link };
    current.length = endOf(current, character);
    pieces.push(current);
  }
  return pieces;
}

function readable({ text, isHyphen }: ContentCharacter): string {
  if (isHyphen) return '-';
  if (/^[\r\n\t]$/.test(text)) return ' ';
  return /^[\p{Cc}\p{Cn}\p{Cs}\ufffe\uffff\ufeff]$/u.test(text) ? '' : text;
}

/** How far the end of a letter is from the start of the piece, along its line. */
function endOf({ x, y, angle }: Piece, { left, right, top, bottom }: ContentCharacter): number {
  const along = (px: number, py: number) => (px - x) * Math.cos(angle) - (py - y) * Math.sin(angle);
  return Math.max(along(left, top), along(right, top), along(left, bottom), along(right, bottom));
}

function continues(piece: Piece, character: ContentCharacter, link: string | undefined): boolean {
  if (piece.style !== character.style || piece.link !== link || Math.abs(piece.angle - character.angle) > 0.01)
    return false;
  const [dx, dy] = [character.origin - piece.x, character.baseline - piece.y];
  const along = dx * Math.cos(piece.angle) - dy * Math.sin(piece.angle);
  const across = dx * Math.sin(piece.angle) + dy * Math.cos(piece.angle);
  const { size } = piece.style;
  return Math.abs(across) < size * 0.1 && along > piece.length - size * 0.5 && along < piece.length + size * widestGap;
}

const generic = { serif: 'serif', sans: 'sans-serif', mono: 'monospace' } as const;

function drawPiece({ text, x, y, length, angle, style, link }: Piece): string {
  const shown = text.trimEnd();
  const attributes = [
    `x="${round(x)}" y="${round(y)}"`,
    `font-family="${escapeHtml(style.family)}, ${generic[style.kind]}" font-size="${round(style.size)}"`,
    style.bold ? 'font-weight="bold"' : '',
    style.italic ? 'font-style="italic"' : '',
    style.isVisible ? `fill="#${style.color}"` : 'fill="transparent"',
    [...shown].length > 1 && length > 0 ? `textLength="${round(length)}" lengthAdjust="spacingAndGlyphs"` : '',
    Math.abs(angle) > 0.001 ? `transform="rotate(${round((-angle * 180) / Math.PI)} ${round(x)} ${round(y)})"` : '',
  ];
  const drawn = `<text ${attributes.filter((attribute) => attribute !== '').join(' ')}>${escapeHtml(shown)}</text>`;
  return link === undefined ? drawn : `<a href="${escapeHtml(link)}" rel="noopener noreferrer">${drawn}</a>`;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
