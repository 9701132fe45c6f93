import { writeFile } from 'node:fs/promises';
import { create } from 'qrcode';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { installedVersion, loadSharp } from './sharp.ts';

export const qrEngine: Engine = {
  id: 'qrcode',
  name: 'qrcode',
  license: 'MIT',
  version: async () => installedVersion('qrcode'),
};

export const errorCorrections = ['L', 'M', 'Q', 'H'] as const;
export type ErrorCorrection = (typeof errorCorrections)[number];

/** The squares of a code: true is dark, row by row from the top. */
export interface QrMatrix {
  modules: number;
  isDark(x: number, y: number): boolean;
}

export interface QrStyle {
  /** Edge of the picture in pixels, quiet zone included. */
  size: number;
  /** Width of the quiet zone in modules; readers want 4. */
  margin: number;
  /** `#rgb`, `#rrggbb` or `#rrggbbaa`; `light` may be `transparent`. */
  dark: string;
  light: string;
  /** A square PNG for the middle. */
  logo?: Buffer | undefined;
}

/** Share of the code's edge a logo covers, its border included: a twentieth of the area, of the quarter that Q can lose. */
const logoShare = 0.22;

/** The code for a text, or undefined when it is too long for this level of error correction. */
export function encodeQr(text: string, ecc: ErrorCorrection): QrMatrix | undefined {
  try {
    const { modules } = create(text, { errorCorrectionLevel: ecc });
    return { modules: modules.size, isDark: (x, y) => modules.get(y, x) !== 0 };
  } catch (error) {
    if (error instanceof Error && /too big|cannot contain/i.test(error.message)) return undefined;
    throw error;
  }
}

/** The smallest size at which every module still has a whole pixel. */
function smallestSize(matrix: QrMatrix, margin: number): number {
  return matrix.modules + 2 * margin;
}

export type QrFormat = 'png' | 'svg' | 'pdf';

/** @throws Failure `invalid_input` when `size` has less than a pixel for each module. */
export async function writeQr(matrix: QrMatrix, path: string, format: QrFormat, style: QrStyle): Promise<void> {
  const smallest = smallestSize(matrix, style.margin);
  if (style.size < smallest) {
    throw new Failure(
      'invalid_input',
      `This code needs a size of at least ${smallest} pixels; ${style.size} was asked for.`,
    );
  }
  await writeFile(path, await render[format](matrix, style));
}

const render: Record<QrFormat, (matrix: QrMatrix, style: QrStyle) => Promise<Uint8Array | string>> = {
  png: renderPng,
  svg: async (matrix, style) => renderSvg(matrix, style),
  pdf: renderPdf,
};

/** Whole pixels a module, the rest goes to the quiet zone: uneven modules are harder to read. */
async function renderPng(matrix: QrMatrix, style: QrStyle): Promise<Buffer> {
  const sharp = await loadSharp();
  const scale = Math.floor(style.size / smallestSize(matrix, style.margin));
  const offset = Math.floor((style.size - matrix.modules * scale) / 2);
  const [dark, light] = [rgba(style.dark), rgba(style.light)];
  const modules = Buffer.alloc(matrix.modules ** 2 * 4);
  for (let y = 0; y < matrix.modules; y++) {
    for (let x = 0; x < matrix.modules; x++) {
      modules.set(matrix.isDark(x, y) ? dark : light, (y * matrix.modules + x) * 4);
    }
  }
  const edge = matrix.modules * scale;
  const rest = style.size - edge - offset;
  const [r, g, b, a] = light;
  const code = await sharp(modules, { raw: { width: matrix.modules, height: matrix.modules, channels: 4 } })
    .resize(edge, edge, { kernel: 'nearest' })
    .extend({ left: offset, top: offset, right: rest, bottom: rest, background: { r, g, b, alpha: a / 255 } })
    .png()
    .toBuffer();
  if (style.logo === undefined) return sharp(code).png({ compressionLevel: 9 }).toBuffer();
  const side = Math.round(edge * logoShare);
  const border = Math.max(1, Math.round(side / 12));
  const logo = await sharp(style.logo)
    .resize(side - 2 * border, side - 2 * border, { fit: 'contain', background: logoBacking(style) })
    .flatten({ background: logoBacking(style) })
    .extend({ top: border, bottom: border, left: border, right: border, background: logoBacking(style) })
    .png()
    .toBuffer();
  return sharp(code)
    .composite([{ input: logo, gravity: 'center' }])
    .png({ compressionLevel: 9 })
    .toBuffer();
}

function logoBacking({ light }: QrStyle): string {
  return light === 'transparent' ? '#ffffff' : light;
}

/** One rectangle a run of dark modules, as a path in units of modules. */
function darkPath({ modules, isDark }: QrMatrix, margin: number): string {
  let path = '';
  for (let y = 0; y < modules; y++) {
    for (let x = 0; x < modules; x++) {
      if (!isDark(x, y)) continue;
      const start = x;
      while (x + 1 < modules && isDark(x + 1, y)) x++;
      const length = x - start + 1;
      path += `M${start + margin} ${y + margin}h${length}v1h-${length}z`;
    }
  }
  return path;
}

function renderSvg(matrix: QrMatrix, style: QrStyle): string {
  const edge = smallestSize(matrix, style.margin);
  const background = style.light === 'transparent' ? '' : `<path fill="${style.light}" d="M0 0h${edge}v${edge}H0z"/>`;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${style.size}" height="${style.size}" viewBox="0 0 ${edge} ${edge}" shape-rendering="crispEdges">` +
    `${background}<path fill="${style.dark}" d="${darkPath(matrix, style.margin)}"/>${svgLogo(matrix, style)}</svg>\n`
  );
}

function svgLogo(matrix: QrMatrix, style: QrStyle): string {
  if (style.logo === undefined) return '';
  const { side, border, at } = logoBox(matrix, style.margin);
  const inner = side - 2 * border;
  return (
    `<rect x="${at}" y="${at}" width="${side}" height="${side}" fill="${logoBacking(style)}"/>` +
    `<image x="${at + border}" y="${at + border}" width="${inner}" height="${inner}" href="data:image/png;base64,${style.logo.toString('base64')}"/>`
  );
}

/** In modules. */
function logoBox(matrix: QrMatrix, margin: number): { side: number; border: number; at: number } {
  const side = matrix.modules * logoShare;
  return { side, border: side / 12, at: margin + (matrix.modules - side) / 2 };
}

/** A page of the code's size: a pixel is 1/96 inch, so 0.75 points. */
async function renderPdf(matrix: QrMatrix, style: QrStyle): Promise<Uint8Array> {
  const { PDFDocument, rgb } = await import('@cantoo/pdf-lib');
  const document = await PDFDocument.create();
  const edge = style.size * 0.75;
  const unit = edge / smallestSize(matrix, style.margin);
  const page = document.addPage([edge, edge]);
  const ink = (color: string) => {
    const [r, g, b, a] = rgba(color);
    return { color: rgb(r / 255, g / 255, b / 255), opacity: a / 255 };
  };
  const square = (color: string, at: number, side: number) =>
    page.drawRectangle({ x: at * unit, y: at * unit, width: side * unit, height: side * unit, ...ink(color) });
  if (style.light !== 'transparent') square(style.light, 0, edge / unit);
  page.drawSvgPath(darkPath(matrix, style.margin), { x: 0, y: edge, scale: unit, ...ink(style.dark), borderWidth: 0 });
  if (style.logo !== undefined) {
    const { side, border, at } = logoBox(matrix, style.margin);
    square(logoBacking(style), at, side);
    const picture = await document.embedPng(style.logo);
    const inner = (side - 2 * border) * unit;
    page.drawImage(picture, { x: (at + border) * unit, y: (at + border) * unit, width: inner, height: inner });
  }
  return document.save();
}

type Rgba = [number, number, number, number];

function rgba(color: string): Rgba {
  if (color === 'transparent') return [255, 255, 255, 0];
  const digits = color.length === 4 ? Array.from(color.slice(1), (digit) => digit + digit).join('') : color.slice(1);
  const [r = 0, g = 0, b = 0, a = 255] = Buffer.from(digits, 'hex');
  return [r, g, b, a];
}

/** Contrast of two colours as WCAG 2 defines it, from 1 (none) to 21; a transparent one counts as white. */
export function contrast(one: string, other: string): number {
  const luminance = (color: string) => {
    const [r, g, b] = rgba(color).map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    }) as Rgba;
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const [brighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return (brighter + 0.05) / (darker + 0.05);
}
