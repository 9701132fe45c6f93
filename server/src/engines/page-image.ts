import { Failure } from '../lib/failure.ts';
import type { RenderedPage } from './pdfium.ts';

export type PageFormat = 'jpeg' | 'png' | 'webp' | 'tiff';

interface EncodeOptions {
  format: PageFormat;
  /** Written into the file, so that it prints at the size of the page. */
  dpi: number;
  /** 1 to 100, for JPEG and WebP. */
  quality: number;
}

/** The longest side a format can hold, in pixels. */
const longestSide: Record<PageFormat, number> = { jpeg: 65_535, webp: 16_383, png: 1_000_000, tiff: 1_000_000 };

/**
 * Writes a rendered page as an image.
 *
 * @throws Failure `resource_limit` when the format cannot hold an image of this size.
 */
export async function encodePage(page: RenderedPage, path: string, options: EncodeOptions): Promise<void> {
  const { format, dpi, quality } = options;
  const { width, height, channels, pixels } = page;
  if (Math.max(width, height) > longestSide[format]) {
    throw new Failure(
      'resource_limit',
      `A page of ${width} x ${height} pixels does not fit into ${format}; choose png or less dpi.`,
    );
  }
  const { default: sharp } = await import('sharp');
  const image = sharp(pixels, { raw: { width, height, channels } }).withMetadata({ density: dpi });
  if (format === 'jpeg') await image.jpeg({ quality }).toFile(path);
  else if (format === 'webp') await image.webp({ quality }).toFile(path);
  else if (format === 'tiff') await image.tiff({ compression: 'lzw', predictor: 'horizontal' }).toFile(path);
  else await image.png().toFile(path);
}
