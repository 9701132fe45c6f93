import type { OverlayOptions, Sharp } from 'sharp';
import { assertDecodable } from './image-failure.ts';
import type { Size } from './image-geometry.ts';
import { type OpenImage, eachFrame } from './images.ts';
import { loadSharp } from './sharp.ts';

export interface Border {
  /** Pixels on each side. */
  width: number;
  /** `#rgb`, `#rrggbb` or `#rrggbbaa`. */
  color: string;
  /** Pixels; rounds the outer corners. */
  radius: number;
  shadow: boolean;
  /** Shows outside of round corners and under a shadow; undefined where the result can be transparent. */
  background: string | undefined;
}

/**
 * Puts a border around every frame, rounds its corners and lays a shadow behind it; the picture keeps its size. Outside of
 * round corners, and under a shadow, the result is transparent or shows the background.
 *
 * @throws Failure `resource_limit` when it becomes larger than the service decodes.
 */
export async function addBorder(image: OpenImage, border: Border): Promise<OpenImage> {
  const room = border.shadow ? shadowRoom(image) : 0;
  const pad = border.width + room;
  const size = { width: image.width + 2 * pad, height: image.height + 2 * pad };
  assertDecodable(image.file, { ...size, frames: image.frames });
  const isPlain = border.radius === 0 && !border.shadow && !isTranslucent(border.color);
  const overlays = isPlain ? [] : await frameOverlays(image, border, room);
  const framed = await eachFrame(image, (pipeline) => {
    const colored = image.isGrey ? pipeline.pipelineColourspace(image.is16Bit ? 'rgb16' : 'srgb') : pipeline;
    const extended = extend(colored, pad, isPlain ? border.color : '#00000000');
    if (isPlain) return extended;
    const composed = extended.composite(overlays);
    return border.background === undefined ? composed : composed.removeAlpha();
  });
  const hasAlpha = isPlain ? framed.hasAlpha : border.background === undefined;
  return { ...framed, ...size, hasAlpha };
}

function extend(pipeline: Sharp, pad: number, background: string): Sharp {
  return pad === 0
    ? pipeline.ensureAlpha()
    : pipeline.extend({ top: pad, bottom: pad, left: pad, right: pad, background });
}

function isTranslucent(color: string): boolean {
  return color.length === 9 && color.slice(7).toLowerCase() !== 'ff';
}

/** Wide enough that a shadow fades out within it. */
function shadowRoom({ width, height }: Size): number {
  return Math.max(4, Math.round(Math.min(width, height) / 12));
}

/** What is laid over an image in the middle of its new canvas: the frame, the cut of its corners, and the shadow below. */
async function frameOverlays(image: OpenImage, border: Border, room: number) {
  const { width, color, radius, shadow, background } = border;
  const outer = { width: image.width + 2 * width, height: image.height + 2 * width };
  const canvas = { width: outer.width + 2 * room, height: outer.height + 2 * room };
  const fitting = Math.min(radius, outer.width / 2, outer.height / 2);
  const edge = roundedPath(room, outer, fitting);
  const hole = roundedPath(room + width, image, Math.max(0, fitting - width));
  const overlays: OverlayOptions[] = [];
  const draw = (shape: string) => Buffer.from(svg(canvas, shape));
  if (width > 0) overlays.push({ input: draw(`<path fill-rule="evenodd" fill="${color}" d="${edge}${hole}"/>`) });
  if (radius > 0) overlays.push({ input: draw(`<path d="${edge}"/>`), blend: 'dest-in' });
  if (shadow) {
    const cut = image.hasAlpha ? draw(`<path d="${edge}"/>`) : undefined;
    overlays.push({ input: await shadowLayer(canvas, edge, room, cut), blend: 'dest-over' });
  }
  if (background !== undefined) {
    overlays.push({ input: draw(`<rect width="100%" height="100%" fill="${background}"/>`), blend: 'dest-over' });
  }
  return overlays;
}

function svg({ width, height }: Size, content: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`;
}

function roundedPath(inset: number, { width: w, height: h }: Size, radius: number): string {
  const r = Math.round(radius * 100) / 100;
  const corner = (x: number, y: number) => `a${r} ${r} 0 0 1 ${x} ${y}`;
  return [
    `M${inset + r} ${inset}h${w - 2 * r}${corner(r, r)}v${h - 2 * r}${corner(-r, r)}`,
    `h${2 * r - w}${corner(-r, -r)}v${2 * r - h}${corner(r, -r)}z`,
  ].join('');
}

/**
 * Drawn small and enlarged: a wide blur of a large picture takes seconds and looks the same. `cut` is where it must not
 * be: it would show through a transparent picture.
 */
async function shadowLayer(canvas: Size, edge: string, room: number, cut: Buffer | undefined): Promise<Buffer> {
  const sharp = await loadSharp();
  const blur = room / 3;
  const factor = Math.max(1, blur / 4);
  const small = { width: Math.ceil(canvas.width / factor), height: Math.ceil(canvas.height / factor) };
  const shape = `<g transform="scale(${small.width / canvas.width} ${small.height / canvas.height})"><path fill-opacity="0.45" transform="translate(0 ${room / 5})" d="${edge}"/></g>`;
  const blurred = await sharp(Buffer.from(svg(small, shape)))
    .blur(Math.max(0.3, blur / factor))
    .png()
    .toBuffer();
  const shadow = sharp(blurred).resize(canvas.width, canvas.height, { fit: 'fill' });
  if (cut !== undefined) shadow.composite([{ input: cut, blend: 'dest-out' }]);
  return shadow.png({ compressionLevel: 1 }).toBuffer();
}
