import type { OverlayOptions } from 'sharp';
import { Failure } from '../lib/failure.ts';
import { type GridPosition, type Size, placeInGrid } from './image-geometry.ts';
import { type OpenImage, withSteps } from './images.ts';
import { loadSharp } from './sharp.ts';
import { fontPath } from './svg.ts';

/** A picture to lay over others: PNG with transparency. */
export interface Mark extends Size {
  png: Buffer;
}

export interface TextMark {
  text: string;
  /** Pixels. */
  fontSize: number;
  /** `#rgb`, `#rrggbb` or `#rrggbbaa`. */
  color: string;
  /** Longer lines wrap at this many pixels. */
  maxWidth: number;
}

/**
 * Draws text in the font we ship, so that it looks the same everywhere and also works on a machine without fonts; signs
 * that font lacks come from the machine's.
 *
 * @throws Failure `invalid_input` when nothing visible comes out.
 */
export async function textMark({ text, fontSize, color, maxWidth }: TextMark): Promise<Mark> {
  const sharp = await loadSharp();
  const rendered = sharp({
    text: {
      text: `<span foreground="${color}">${escapeMarkup(text)}</span>`,
      font: `DejaVu Sans ${fontSize}`,
      fontfile: fontPath,
      width: Math.max(1, Math.round(maxWidth)),
      wrap: 'word-char',
      dpi: 72, // One point is one pixel.
      rgba: true,
    },
  });
  try {
    const { data, info } = await rendered.png().toBuffer({ resolveWithObject: true });
    const { channels } = await sharp(data).stats();
    if ((channels[3]?.max ?? 0) > 0) return { png: data, width: info.width, height: info.height };
  } catch (error) {
    throw nothingDrawn(String(error));
  }
  throw nothingDrawn('every pixel is transparent');
}

function nothingDrawn(log: string): Failure {
  const message = 'The watermark text shows nothing: it has no sign that any font here can draw.';
  return new Failure('invalid_input', message, { log });
}

/** libvips reads text as Pango markup, an XML: signs with a meaning there are escaped, control characters dropped. */
function escapeMarkup(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu, (sign) => (sign === '\n' ? sign : ''))
    .replaceAll(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}

/** An image as a mark of this width; its transparency is kept. */
export async function imageMark(image: OpenImage, width: number): Promise<Mark> {
  const resized = image.pipeline.clone().resize({ width: Math.max(1, Math.round(width)) });
  const { data, info } = await resized.ensureAlpha().png().toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height };
}

export interface Placement {
  position: GridPosition | 'tile';
  /** 0 (invisible) to 1. */
  opacity: number;
  /** Degrees clockwise. */
  rotation: number;
  /** Pixels to the edges; between the marks of a tiling, twice that. */
  margin: number;
}

/** Lays a mark over every frame of an image; one that is too large for the image is made smaller. */
export async function withMark(image: OpenImage, mark: Mark, placement: Placement): Promise<OpenImage> {
  const overlay = await overlayOf(await finishMark(mark, image, placement), image, placement);
  return withSteps(image, (pipeline) => {
    const marked = pipeline.composite([overlay]);
    return image.hasAlpha ? marked : marked.removeAlpha(); // Compositing adds an alpha channel that nothing needs.
  });
}

/**
 * libvips sees an animation as one tall picture: for it, and for tiles, the overlay is a layer of one frame's size, which
 * is repeated for every frame.
 */
async function overlayOf(mark: Mark, image: OpenImage, { position, margin }: Placement): Promise<OverlayOptions> {
  if (position === 'tile') return { input: await tiledLayer(mark, image, margin), left: 0, top: 0, tile: true };
  const place = placeInGrid(position, image, mark, fittingMargin(image, margin));
  if (image.frames === 1) return { input: mark.png, ...place };
  return { input: await layer(image, { input: mark.png, ...place }), left: 0, top: 0, tile: true };
}

/** The margin, or as much of it as a small image has room for. */
function fittingMargin(image: Size, margin: number): number {
  return Math.min(margin, Math.floor((Math.min(image.width, image.height) - 1) / 4));
}

async function finishMark(mark: Mark, image: Size, { opacity, rotation, margin }: Placement): Promise<Mark> {
  const sharp = await loadSharp();
  const faded = sharp(mark.png).ensureAlpha().linear([1, 1, 1, opacity], [0, 0, 0, 0]);
  const turned = await faded.rotate(rotation, { background: '#00000000' }).png().toBuffer();
  const room = 2 * fittingMargin(image, margin);
  const { data, info } = await sharp(turned)
    .resize(image.width - room, image.height - room, { fit: 'inside', withoutEnlargement: true })
    .png()
    .toBuffer({ resolveWithObject: true });
  return { png: data, width: info.width, height: info.height };
}

const clear = { r: 0, g: 0, b: 0, alpha: 0 };

async function tiledLayer(mark: Mark, image: Size, margin: number): Promise<Buffer> {
  const sharp = await loadSharp();
  const spaced = await sharp(mark.png)
    .extend({ top: margin, bottom: margin, left: margin, right: margin, background: clear })
    .png()
    .toBuffer();
  const width = Math.min(image.width, mark.width + 2 * margin);
  const height = Math.min(image.height, mark.height + 2 * margin);
  const tile = await sharp(spaced).extract({ left: 0, top: 0, width, height }).png().toBuffer();
  return layer(image, { input: tile, tile: true, left: 0, top: 0 });
}

async function layer({ width, height }: Size, overlay: OverlayOptions): Promise<Buffer> {
  const sharp = await loadSharp();
  return sharp({ create: { width, height, channels: 4, background: clear } })
    .composite([overlay])
    .png({ compressionLevel: 1 })
    .toBuffer();
}
