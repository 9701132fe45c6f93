import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sharp } from 'sharp';
import { encodeIco } from './ico.ts';
import { imageFailure } from './image-failure.ts';
import type { OpenImage } from './images.ts';
import { loadSharp } from './sharp.ts';

export interface FaviconStyle {
  /** `#rgb`, `#rrggbb`, `#rrggbbaa` or `transparent`. */
  background: string;
  /** Per cent of the edge left free on each side, 0 to 50. */
  padding: number;
  /** Per cent of the edge by which corners are rounded, 0 to 50. */
  radius: number;
}

/** A file of the set, written in the scratch directory. */
export interface FaviconFile {
  name: string;
  path: string;
}

/** Edges of the pictures in the icon, and of the PNG files. */
const iconEdges = [16, 32, 48];
const pngEdges = [16, 32, 48, 96, 192, 512];
const appleEdge = 180;
/** The picture all others are made from. */
export const masterEdge = 1024;

/**
 * Everything a web site needs to show an icon: `favicon.ico`, PNG files, the icon of Apple's devices, a web manifest and
 * the lines for the page's head. The image goes whole into a square.
 */
export async function makeFavicons(image: OpenImage, style: FaviconStyle): Promise<FaviconFile[]> {
  const { scratch } = image.workspace;
  const master = await masterPicture(image, style);
  const files: FaviconFile[] = [];
  const add = async (name: string, content: Buffer | string) => {
    const path = join(scratch, `favicon-${files.length}`);
    await writeFile(path, content);
    files.push({ name, path });
  };
  const pictures = await Promise.all(
    iconEdges.map(async (edge) => ({ edge, png: await (await resized(master, edge)).png().toBuffer() })),
  );
  await add('favicon.ico', encodeIco(pictures));
  for (const edge of pngEdges)
    await add(`favicon-${edge}x${edge}.png`, await (await resized(master, edge)).png().toBuffer());
  // Apple's devices round the corners themselves and show black through transparent places.
  const touch = (await resized(await masterPicture(image, { ...style, radius: 0 }), appleEdge)).flatten({
    background: style.background === 'transparent' ? '#ffffff' : style.background,
  });
  await add('apple-touch-icon.png', await touch.png().toBuffer());
  await add('site.webmanifest', webManifest(style));
  await add('head.html.txt', headLines);
  return files;
}

async function masterPicture(image: OpenImage, { background, padding, radius }: FaviconStyle): Promise<Buffer> {
  const sharp = await loadSharp();
  const inner = Math.max(1, Math.round(masterEdge * (1 - (2 * padding) / 100)));
  try {
    const picture = await image.pipeline
      .clone()
      .toColourspace('srgb')
      .ensureAlpha()
      .resize(inner, inner, { fit: 'contain', background: '#00000000' })
      .png({ compressionLevel: 1 })
      .toBuffer();
    const corner = (masterEdge * radius) / 100;
    const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="${masterEdge}" height="${masterEdge}"><rect width="100%" height="100%" rx="${corner}"/></svg>`;
    const canvas = { width: masterEdge, height: masterEdge, channels: 4 } as const;
    return await sharp({ create: { ...canvas, background: background === 'transparent' ? '#00000000' : background } })
      .composite([{ input: picture }, ...(radius > 0 ? [{ input: Buffer.from(mask), blend: 'dest-in' as const }] : [])])
      .png({ compressionLevel: 1 })
      .toBuffer();
  } catch (error) {
    throw imageFailure(error, image.file);
  }
}

async function resized(master: Buffer, edge: number): Promise<Sharp> {
  return (await loadSharp())(master).resize(edge, edge);
}

function webManifest({ background }: FaviconStyle): string {
  const color = background === 'transparent' ? '#ffffff' : background.slice(0, 7);
  const icons = [192, 512].map((edge) => ({
    src: `/favicon-${edge}x${edge}.png`,
    sizes: `${edge}x${edge}`,
    type: 'image/png',
  }));
  const manifest = {
    name: '',
    short_name: '',
    icons,
    theme_color: color,
    background_color: color,
    display: 'standalone',
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

const headLines = `<!-- Put the files into the root of the site, and these lines into the head of its pages. -->
<link rel="icon" href="/favicon.ico" sizes="48x48">
<link rel="icon" type="image/png" sizes="32x32" href="/favicon-32x32.png">
<link rel="icon" type="image/png" sizes="96x96" href="/favicon-96x96.png">
<link rel="apple-touch-icon" href="/apple-touch-icon.png">
<link rel="manifest" href="/site.webmanifest">
`;
