import type { OverlayOptions, Sharp } from 'sharp';
import { Failure } from '../lib/failure.ts';
import { type Box, clampToImage } from './image-geometry.ts';
import { type OpenImage, eachFrame, withSteps } from './images.ts';
import { loadSharp } from './sharp.ts';

export const imageEffects = ['grayscale', 'sepia', 'negate', 'blur', 'sharpen', 'pixelate', 'vignette'] as const;
export type ImageEffect = (typeof imageEffects)[number];

export interface Filter {
  effect: ImageEffect;
  /** 0 to 1, for blur, sharpen, pixelate and vignette. */
  strength: number;
  /** Only these parts, in pixels of the upright image; the whole image when undefined. */
  regions?: readonly Box[] | undefined;
}

/** A part of a picture: eight bits a sample, sRGB with transparency. */
interface Patch {
  pixels: Sharp;
  width: number;
  height: number;
  /** A part that is to be hidden, rather than a whole picture to be softened. */
  isRegion: boolean;
}

/** What one effect makes of a patch; a new one of the same size. */
type PatchEffect = (patch: Patch, strength: number) => Promise<Sharp>;

const sepia: [[number, number, number], [number, number, number], [number, number, number]] = [
  [0.393, 0.769, 0.189],
  [0.349, 0.686, 0.168],
  [0.272, 0.534, 0.131],
];

/** Effects that are a step of the pipeline, whatever they are applied to. */
const steps: Partial<Record<ImageEffect, (pipeline: Sharp, strength: number) => Sharp>> = {
  // Not `grayscale()`: after it raw pixels have one channel, whatever colour space is asked for.
  grayscale: (pipeline) => pipeline.modulate({ saturation: 0 }),
  sepia: (pipeline) => pipeline.recomb(sepia),
  negate: (pipeline) => pipeline.negate({ alpha: false }),
  sharpen: (pipeline, strength) =>
    pipeline.sharpen({ sigma: 0.6 + 1.6 * strength, m1: strength, m2: 1 + 5 * strength }),
};

const patchEffects: Partial<Record<ImageEffect, PatchEffect>> = { blur, pixelate, vignette };

/**
 * Applies an effect to every frame of an image, or to parts of it.
 *
 * @throws Failure `invalid_input` for a region outside the image: what was to be hidden would not be.
 */
export async function filterImage(image: OpenImage, { effect, strength, regions }: Filter): Promise<OpenImage> {
  const step = steps[effect];
  const colored = image.isGrey && effect === 'sepia' ? inColor(image) : image;
  if (regions === undefined && step !== undefined) {
    const isGrey = colored.isGrey || effect === 'grayscale';
    return withSteps(colored, (pipeline) => step(pipeline, strength), { isGrey });
  }
  const whole = { left: 0, top: 0, width: image.width, height: image.height };
  const boxes = regions === undefined ? [whole] : regions.map((region) => insideOf(image, region));
  const apply =
    patchEffects[effect] ?? ((patch: Patch) => Promise.resolve(step?.(patch.pixels, strength) ?? patch.pixels));
  return eachFrame(colored, (pipeline) =>
    replaceParts(pipeline, { boxes, isRegion: regions !== undefined, keepAlpha: image.hasAlpha }, (patch) =>
      apply(patch, strength),
    ),
  );
}

function inColor(image: OpenImage): OpenImage {
  return withSteps(image, (pipeline) => pipeline.pipelineColourspace(image.is16Bit ? 'rgb16' : 'srgb'));
}

function insideOf(image: OpenImage, region: Box): Box {
  const box = clampToImage(region, image);
  if (box !== undefined) return box;
  const { filename } = image.file;
  const place = `The region at ${region.left}, ${region.top}`;
  throw new Failure(
    'invalid_input',
    `${place} lies outside "${filename}", which is ${image.width} x ${image.height} pixels.`,
    {
      file: filename,
    },
  );
}

/**
 * Lays changed parts over a picture. Where it can be transparent, what was there is taken out first, or it would show
 * through. The pipeline goes on, so that everything else about the picture stays.
 */
async function replaceParts(
  pipeline: Sharp,
  { boxes, isRegion, keepAlpha }: { boxes: readonly Box[]; isRegion: boolean; keepAlpha: boolean },
  change: (patch: Patch) => Promise<Sharp>,
): Promise<Sharp> {
  const sharp = await loadSharp();
  const { data, info } = await pipeline
    .clone()
    .keepIccProfile() // The pipeline works in the colours of the picture's own profile, when that is kept in the end.
    .toColourspace('srgb')
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: info.width, height: info.height, channels: 4 } as const;
  const overlays: OverlayOptions[] = [];
  for (const { left, top, width, height } of boxes) {
    const cut = await sharp(data, { raw }).extract({ left, top, width, height }).raw().toBuffer();
    const pixels = sharp(cut, { raw: { width, height, channels: 4 } });
    const changed = await change({ pixels, width, height, isRegion });
    const input = await changed.toColourspace('srgb').ensureAlpha().raw().toBuffer();
    const shape = { left, top, raw: { width, height, channels: 4 } } as const;
    if (keepAlpha) overlays.push({ input: Buffer.alloc(input.length, 255), ...shape, blend: 'dest-out' });
    overlays.push({ input, ...shape });
  }
  const composed = pipeline.composite(overlays);
  return keepAlpha ? composed : composed.removeAlpha();
}

/**
 * Softens by a length that goes with the size. What is to be hidden gets several times as much, and never less than
 * takes away the strokes of small letters. Wide blurs are made of a smaller picture: the eye sees no difference.
 */
async function blur({ pixels, width, height, isRegion }: Patch, strength: number): Promise<Sharp> {
  const sharp = await loadSharp();
  const wanted = isRegion
    ? Math.max(6, (0.06 + 0.12 * strength) * Math.max(width, height))
    : Math.max(0.4, (strength * Math.min(width, height)) / 25);
  const factor = Math.max(1, wanted / 4);
  const small = await pixels
    .resize(Math.ceil(width / factor), Math.ceil(height / factor), { fit: 'fill' })
    .blur(Math.max(0.3, wanted / factor))
    .png({ compressionLevel: 1 })
    .toBuffer();
  return sharp(small).resize(width, height, { fit: 'fill', kernel: 'cubic' });
}

/** Blocks of one colour: 60 to 10 along the longer side of a picture, 12 to 3 of what is to be hidden. */
async function pixelate({ pixels, width, height, isRegion }: Patch, strength: number): Promise<Sharp> {
  const sharp = await loadSharp();
  const count = isRegion ? 12 - 9 * strength : 60 - 50 * strength;
  const block = Math.max(2, Math.max(width, height) / count);
  const blocks = await pixels
    .resize(Math.max(1, Math.round(width / block)), Math.max(1, Math.round(height / block)), { fit: 'fill' })
    .png({ compressionLevel: 1 })
    .toBuffer();
  return sharp(blocks).resize(width, height, { fit: 'fill', kernel: 'nearest' });
}

/** Darkens towards the corners. */
async function vignette({ pixels, width, height }: Patch, strength: number): Promise<Sharp> {
  const shade = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><defs>
    <radialGradient id="g" cx="50%" cy="50%" r="71%"><stop offset="${0.75 - 0.5 * strength}" stop-opacity="0"/>
    <stop offset="1" stop-opacity="${0.35 + 0.6 * strength}"/></radialGradient></defs>
    <rect width="100%" height="100%" fill="url(#g)"/></svg>`;
  return pixels.composite([{ input: Buffer.from(shade), blend: 'atop' }]);
}
