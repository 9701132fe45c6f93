import { readFile, writeFile } from 'node:fs/promises';
import { copyOriginal, keepSmaller, targetMissed, writeWithinSize } from '../../engines/image-compression.ts';
import { writeImages } from '../../engines/image-pages.ts';
import {
  type ImageFormat,
  type OpenImage,
  canMove,
  imagePrograms,
  openImage,
  withSteps,
} from '../../engines/images.ts';
import { heicDecoder, heicEncoder } from '../../engines/heic.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { optimizeSvg, svgoEngine } from '../../engines/svg.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, int, type Values } from '../settings.ts';
import { type Result, resultsOf } from './each-picture.ts';

const settings = {
  quality: int({
    min: 1,
    max: 100,
    default: 80,
    describe: 'How close to the original: 100 keeps everything. In target_size mode, the most to spend.',
  }),
  mode: choice({
    of: ['quality', 'target_size', 'lossless'],
    default: 'quality',
    describe: 'Aim at a quality, at a file size, or keep every pixel.',
  }),
  target_size_kb: int({
    min: 1,
    max: 102400,
    describe: 'With mode target_size: the largest file to return, in kilobytes of 1000 bytes.',
  }),
  format: choice({
    of: ['keep', 'jpeg', 'png', 'webp', 'avif'],
    default: 'keep',
    describe: 'The format to return; keep returns each image in its own.',
  }),
  max_width: int({ min: 1, max: 16384, describe: 'Make wider images this wide, in pixels. Drawings keep their size.' }),
  max_height: int({
    min: 1,
    max: 16384,
    describe: 'Make taller images this tall, in pixels. Drawings keep their size.',
  }),
  strip_metadata: flag({
    default: true,
    describe: 'Remove where, when and with what a photo was taken, and convert its colours to sRGB.',
  }),
  progressive: choice({
    of: ['auto', 'true', 'false'],
    default: 'auto',
    describe: 'JPEG that appears from coarse to fine, PNG and GIF interlaced. auto: JPEG up to 4 megapixels.',
  }),
  effort: choice({
    of: ['fast', 'best'],
    default: 'fast',
    describe: 'best takes several times longer for files some per cent smaller.',
  }),
};
type Settings = Values<typeof settings>;

/** A progressive JPEG is smaller, but decoding a large one needs all its coefficients in memory at once. */
const progressivePixels = 4_000_000;

export default defineTool({
  slug: 'image-compressor',
  name: 'Image Compressor',
  category: 'image',
  description: 'Makes images smaller, by quality, to a target file size or without any loss.',
  accepts: ['jpeg', 'png', 'webp', 'avif', 'heic', 'gif', 'tiff', 'svg'],
  produces: ['jpeg', 'png', 'webp', 'avif', 'heic', 'gif', 'tiff', 'svg'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sharpEngine, svgoEngine, heicDecoder],
  optionalEngines: [heicEncoder],
  enginesFor: ({ format }, inputs) => imagePrograms(inputs, format),
  settings,
  check: checkSettings,
  run: (context) => eachInput(context, (input) => compress(input, context)),
});

function checkSettings(
  { mode, target_size_kb, format, max_width, max_height }: Settings,
  inputs: readonly Pick<InputFile, 'type'>[],
): FieldErrors {
  if (mode === 'target_size' && target_size_kb === undefined) {
    return { target_size_kb: ['is required when mode is target_size'] };
  }
  if (mode !== 'lossless') return {};
  const writesJpeg = inputs.filter(({ type }) => format === 'jpeg' || (format === 'keep' && type === 'jpeg'));
  if (writesJpeg.some(({ type }) => type !== 'jpeg')) {
    return { format: ['cannot be jpeg when mode is lossless: converting to JPEG always loses a little'] };
  }
  if (writesJpeg.length > 0 && (max_width !== undefined || max_height !== undefined)) {
    return { mode: ['cannot be lossless when a JPEG is resized: it has to be encoded again'] };
  }
  return {};
}

async function compress(input: InputFile, context: ToolContext<Settings>): Promise<void> {
  const { settings } = context;
  if (input.type === 'svg' && settings.format === 'keep') return compressDrawing(input, context);
  for (const result of await resultsOf(input, settings.format, context)) {
    context.signal.throwIfAborted();
    await compressResult(result, context);
  }
}

async function compressResult({ pictures, path, format }: Result, context: ToolContext<Settings>): Promise<void> {
  const { settings } = context;
  const opened: OpenImage[] = [];
  for (const picture of pictures)
    opened.push(await openImage(picture, context, { animated: canMove(format, picture.type) }));
  const images = opened.map((image) => withinBounds(image, settings));
  const isLossless = settings.mode === 'lossless';
  const fallback = { strip: settings.strip_metadata, exact: isLossless };
  const isSameImage = images.every((image, index) => image === opened[index] && format === image.file.type);
  // libvips converts colours through a profile, and JPEG cannot be encoded again: both would change pixels.
  if (isLossless && isSameImage && (format === 'jpeg' || images.some(({ hasProfile }) => hasProfile)))
    return copyOriginal(images[0]!, path, fallback);

  await encode(images, path, format, settings);
  if (isSameImage) await keepSmaller(images[0]!, path, fallback);
}

async function encode(
  images: readonly OpenImage[],
  path: string,
  format: ImageFormat,
  settings: Settings,
): Promise<void> {
  const { mode, quality, progressive, effort, strip_metadata, target_size_kb } = settings;
  const isSmall = images.every(({ width, height }) => width * height <= progressivePixels);
  const options = {
    quality,
    lossless: mode === 'lossless',
    palette: mode === 'target_size' || (mode === 'quality' && quality < 100),
    progressive: progressive === 'auto' ? format === 'jpeg' && isSmall : progressive === 'true',
    effort,
    keepMetadata: !strip_metadata,
  };
  if (mode !== 'target_size' || target_size_kb === undefined) await writeImages(images, path, format, options);
  else await writeWithinSize(images, path, format, options, target_size_kb * 1000);
}

function withinBounds(image: OpenImage, { max_width, max_height }: Settings): OpenImage {
  const scale = Math.min(1, (max_width ?? image.width) / image.width, (max_height ?? image.height) / image.height);
  if (scale === 1) return image;
  const width = Math.max(1, Math.round(image.width * scale));
  const height = Math.max(1, Math.round(image.height * scale));
  return withSteps(image, (pipeline) => pipeline.resize(width, height, { fit: 'fill' }), { width, height });
}

/** A drawing has no quality to lower: every mode optimises it without changing what it shows. */
async function compressDrawing(input: InputFile, { settings, output }: ToolContext<Settings>): Promise<void> {
  const optimized = Buffer.from(await optimizeSvg(input.path, input));
  const smaller = optimized.length < input.sizeBytes ? optimized : await readFile(input.path);
  const targetBytes = settings.mode === 'target_size' ? (settings.target_size_kb ?? 0) * 1000 : Infinity;
  if (smaller.length > targetBytes) throw targetMissed(input.filename, smaller.length, targetBytes);
  await writeFile(output(`${input.stem}.svg`), smaller);
}
