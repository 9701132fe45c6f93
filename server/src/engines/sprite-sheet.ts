import { join } from 'node:path';
import { Failure } from '../lib/failure.ts';
import { imageFailure } from './image-failure.ts';
import type { Box } from './image-geometry.ts';
import { type OpenImage, imageFrom } from './images.ts';
import { loadSharp, maxPixels } from './sharp.ts';

export interface Sprite extends Box {
  /** A CSS identifier, unique on its sheet. */
  name: string;
  file: string;
}

export interface SpriteSheet {
  image: OpenImage;
  width: number;
  height: number;
  sprites: Sprite[];
}

/**
 * Lays images of any size out on a grid whose cells fit the largest, on a transparent sheet.
 *
 * @throws Failure `resource_limit` for a sheet larger than the service decodes.
 */
export async function makeSpriteSheet(
  images: readonly OpenImage[],
  { columns, padding }: { columns: number; padding: number },
): Promise<SpriteSheet> {
  const across = Math.min(columns, images.length);
  const cell = {
    width: Math.max(...images.map(({ width }) => width)) + padding,
    height: Math.max(...images.map(({ height }) => height)) + padding,
  };
  const width = across * cell.width + padding;
  const height = Math.ceil(images.length / across) * cell.height + padding;
  const [first] = images;
  if (first === undefined) throw new Error('a sheet of nothing');
  if (width * height > maxPixels) {
    throw new Failure('resource_limit', `The sheet would be ${width} x ${height} pixels; the limit is 100 million.`);
  }
  const names = spriteNames(images.map(({ file }) => file.filename));
  const sprites: Sprite[] = [];
  const overlays = [];
  for (const [index, image] of images.entries()) {
    const input = join(image.workspace.scratch, `sprite-${index}.png`);
    try {
      await image.pipeline.toColourspace('srgb').ensureAlpha().png({ compressionLevel: 1 }).toFile(input);
    } catch (error) {
      throw imageFailure(error, image.file);
    }
    const left = padding + (index % across) * cell.width;
    const top = padding + Math.floor(index / across) * cell.height;
    overlays.push({ input, left, top });
    const place = { left, top, width: image.width, height: image.height };
    sprites.push({ name: names[index] ?? '', file: image.file.filename, ...place });
  }
  const sharp = await loadSharp();
  const sheet = sharp({ create: { width, height, channels: 4, background: '#00000000' } }).composite(overlays);
  const image = { ...(await imageFrom(sheet, first.file, first.workspace)), hasAlpha: true };
  return { image, width, height, sprites };
}

/** File names as CSS identifiers; a clash gets `-1`, `-2`, … */
function spriteNames(filenames: readonly string[]): string[] {
  const taken = new Set<string>();
  return filenames.map((filename) => {
    const stem = filename.replace(/\.[^.]*$/, '').toLowerCase();
    const plain = stem.replaceAll(/[^\p{L}\p{N}_-]+/gu, '-').replaceAll(/^-+|-+$/g, '');
    const start = plain === '' ? 'sprite' : /^[\d-]/.test(plain) ? `s-${plain}` : plain;
    let name = start;
    for (let n = 1; taken.has(name); n++) name = `${start}-${n}`;
    taken.add(name);
    return name;
  });
}

/** One rule for the sheet and one a sprite: `<i class="sprite sprite-home"></i>`. */
export function spriteCss({ sprites }: SpriteSheet, sheetFile: string): string {
  const shared = `.sprite {\n  display: inline-block;\n  background: url("${sheetFile}") no-repeat;\n}\n`;
  const minus = (value: number) => (value === 0 ? '0' : `-${value}px`);
  const rules = sprites.map(
    ({ name, left, top, width, height }) =>
      `.sprite-${name} {\n  width: ${width}px;\n  height: ${height}px;\n  background-position: ${minus(left)} ${minus(top)};\n}\n`,
  );
  return [shared, ...rules].join('\n');
}

/** The coordinates as TexturePacker's hash format has them, which game engines read. */
export function spriteJson({ sprites, width, height }: SpriteSheet, sheetFile: string): object {
  const frames = sprites.map(({ name, file, left, top, width: w, height: h }) => [
    name,
    {
      frame: { x: left, y: top, w, h },
      rotated: false,
      trimmed: false,
      spriteSourceSize: { x: 0, y: 0, w, h },
      sourceSize: { w, h },
      file,
    },
  ]);
  const meta = { image: sheetFile, format: 'RGBA8888', size: { w: width, h: height }, scale: '1' };
  return { frames: Object.fromEntries(frames), meta };
}
