import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { brokenImage } from './image-failure.ts';
import { type OpenImage, type Pixels, readPixels } from './images.ts';
import { packageVersion } from './npm-package.ts';
import { loadSharp } from './sharp.ts';

export const vectorizerEngine: Engine = {
  id: 'vectorizer',
  name: 'VTracer (traces images)',
  license: 'MIT',
  version: () => packageVersion('@neplex/vectorizer'),
};

export interface Tracing {
  colorMode: 'color' | 'bw';
  /** Patches of fewer pixels along their edge are left out, 0 to 128. */
  speckle: number;
  /** Colours are reduced to 2 to this power, 1 to 8. */
  colorPrecision: number;
  curve: 'spline' | 'polygon';
}

/** More pixels only trace the grain of a photo: larger images are traced at this size and drawn at their own. */
const maxTracedPixels = 1_000_000;

/**
 * An SVG drawing of the shapes in an image, at the image's size.
 *
 * @throws Failure `invalid_input`
 */
export async function traceImage(image: OpenImage, tracing: Tracing): Promise<string> {
  const scale = Math.min(1, Math.sqrt(maxTracedPixels / (image.width * image.height)));
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  const [width, height] = [side(image.width), side(image.height)];
  const small = await readPixels(image, (pipeline) =>
    scale < 1 ? pipeline.resize(width, height, { fit: 'fill' }) : pipeline,
  );
  const isBlackWhite = tracing.colorMode === 'bw';
  const data = isBlackWhite ? blackOnWhite(small) : await fewerColors(small, 2 ** tracing.colorPrecision);
  const { vectorizeRaw, ColorMode, Hierarchical, PathSimplifyMode } = await import('@neplex/vectorizer');
  const config = {
    colorMode: isBlackWhite ? ColorMode.Binary : ColorMode.Color,
    hierarchical: Hierarchical.Stacked,
    filterSpeckle: tracing.speckle,
    colorPrecision: 8, // With fewer bits the tracer takes a whole gradient for one colour; the palette has fewer already.
    layerDifference: 0,
    mode: tracing.curve === 'spline' ? PathSimplifyMode.Spline : PathSimplifyMode.Polygon,
    cornerThreshold: 60,
    lengthThreshold: 4,
    maxIterations: 10,
    spliceThreshold: 45,
    pathPrecision: 2,
  };
  const svg = await vectorizeRaw(data, { width, height }, config, image.workspace.signal);
  const head = /<svg[^>]*>/;
  if (!head.test(svg)) throw brokenImage(image.file, 'the tracer wrote no drawing');
  if (!/ d="[^"]/.test(svg)) {
    const { filename } = image.file;
    const message = `"${filename}" shows no shape that can be traced; a smaller speckle leaves out less.`;
    throw new Failure('invalid_input', message, { file: filename });
  }
  const sized = `<svg xmlns="http://www.w3.org/2000/svg" width="${image.width}" height="${image.height}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">`;
  return svg.replace(head, sized);
}

/** Flat areas of the colours that matter most: what is traced well. */
async function fewerColors({ data, width, height }: Pixels, colours: number): Promise<Buffer> {
  const sharp = await loadSharp();
  const png = await sharp(data, { raw: { width, height, channels: 4 } })
    .png({ palette: true, colours, dither: 0, effort: 2 })
    .toBuffer();
  return sharp(png).toColourspace('srgb').ensureAlpha().raw().toBuffer();
}

function blackOnWhite({ data }: Pixels): Buffer {
  const traced = Buffer.alloc(data.length, 255);
  for (let at = 0; at < data.length; at += 4) {
    const [red = 0, green = 0, blue = 0, alpha = 0] = data.subarray(at, at + 4);
    const light = 255 + ((0.2126 * red + 0.7152 * green + 0.0722 * blue - 255) * alpha) / 255;
    if (light < 128) traced.fill(0, at, at + 3);
  }
  return traced;
}
