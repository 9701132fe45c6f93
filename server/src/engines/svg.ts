import { createRequire } from 'node:module';
import { readFile, stat } from 'node:fs/promises';
import type { Sharp } from 'sharp';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { brokenImage, type NamedFile } from './image-failure.ts';
import { installedVersion, loadSharp, openWithSharp } from './sharp.ts';

export const svgoEngine: Engine = {
  id: 'svgo',
  name: 'SVGO',
  license: 'MIT',
  version: async () => installedVersion('svgo'),
};

const maxSvgBytes = 10 * 1024 * 1024;
/** SVG is drawn at 96 CSS pixels an inch; libvips calls that scale 72. */
const dpiToDensity = 72 / 96;

/** @throws Failure `resource_limit` for a drawing too large to parse. */
async function readSvg(path: string, { filename }: NamedFile): Promise<Buffer> {
  if ((await stat(path)).size > maxSvgBytes) {
    throw new Failure('resource_limit', `"${filename}" is larger than the 10 MB an SVG drawing may have.`, {
      file: filename,
    });
  }
  return readFile(path);
}

/**
 * Opens a drawing for rasterising, at its own size in CSS pixels or scaled to `dpi`. Handed over as bytes, never by path:
 * without a base address the renderer resolves no reference to another file.
 */
export async function openSvg(path: string, named: NamedFile, dpi = 96): Promise<Sharp> {
  await provideFont();
  return openWithSharp(await readSvg(path, named), { density: Math.max(1, dpi * dpiToDensity) });
}

export const fontPath = createRequire(import.meta.url).resolve('dejavu-fonts-ttf/ttf/DejaVuSans.ttf');

let fontProvided: Promise<unknown> | undefined;

/**
 * Makes the font we ship known to libvips for the rest of the process: on a machine without any font, text in a drawing
 * would silently come out blank. Fonts of the machine stay preferred where the drawing names them.
 */
function provideFont(): Promise<unknown> {
  fontProvided ??= loadSharp().then((sharp) =>
    sharp({ text: { text: 'A', font: 'DejaVu Sans 8', fontfile: fontPath, dpi: 72 } })
      .raw()
      .toBuffer(),
  );
  return fontProvided;
}

/**
 * A smaller drawing that looks the same: SVGO's defaults, which keep the viewBox, and ids that may be referred to from
 * outside. Its parser bounds how deep entities expand and reads no external ones.
 */
export async function optimizeSvg(path: string, named: NamedFile): Promise<string> {
  const source = (await readSvg(path, named)).toString('utf8');
  const { optimize } = await import('svgo');
  try {
    const { data } = optimize(source, {
      multipass: true,
      plugins: [{ name: 'preset-default', params: { overrides: { cleanupIds: false } } }],
    });
    return data;
  } catch (error) {
    throw brokenImage(named, String(error));
  }
}
