import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { readArchive } from './archive-reading/read-archive.ts';
import { readPdf } from './pdfium.ts';

export interface Comic {
  path: string;
  /** The given name, for messages. */
  filename: string;
  type: FileTypeId;
}

export interface ComicOptions {
  /** 1 to 100, of JPEG. */
  quality: number;
  /** Pixels; higher pages are made smaller. */
  maxHeight: number;
  /** Where the pages are written: an existing private directory. */
  directory: string;
  signal: AbortSignal;
  onPercent(percent: number): void;
}

/** A page that is ready: a JPEG. */
export interface ComicPage {
  path: string;
  width: number;
  height: number;
}

const limits = { maxFiles: 5000, maxBytes: 2_000_000_000, maxRatio: 200 };
const picture = /\.(?:jpe?g|png|webp|gif|bmp|tiff?|avif)$/i;
/** What archivers and file managers leave behind, which is no page. */
const clutter = /(?:^|\/)(?:__MACOSX\/|\._|\.DS_Store|Thumbs\.db)/i;

/**
 * The pages of a comic as JPEGs of their own, in the order people count: `page 2` before `page 10`.
 *
 * @throws Failure `invalid_input` for an archive without pictures or with a broken one; `password_required`;
 * `resource_limit` for too many pages or bytes.
 */
export async function readComic(comic: Comic, options: ComicOptions): Promise<ComicPage[]> {
  return comic.type === 'pdf' ? await pagesOfPdf(comic, options) : await pagesOfArchive(comic, options);
}

async function pagesOfArchive(comic: Comic, options: ComicOptions): Promise<ComicPage[]> {
  const { directory, signal, onPercent } = options;
  const { filename: file } = comic;
  const unpacked = join(directory, 'unpacked');
  await mkdir(unpacked, { mode: 0o700 });
  const members: { name: string; path: string }[] = [];
  await readArchive(comic, { limits, scratch: unpacked, signal }, async (member, content) => {
    if (member.kind !== 'file' || !picture.test(member.path) || clutter.test(member.path)) return;
    const path = join(unpacked, `picture-${members.length}`);
    members.push({ name: member.path, path });
    await pipeline(content, createWriteStream(path, { mode: 0o600 }), { signal });
  });
  if (members.length === 0) throw new Failure('invalid_input', `${file} holds no pictures.`, { file });
  const { compare } = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
  members.sort((a, b) => compare(a.name, b.name));
  const { default: sharp } = await import('sharp');
  const pages: ComicPage[] = [];
  for (const [index, { name, path }] of members.entries()) {
    signal.throwIfAborted();
    const image = sharp(path, { failOn: 'error', limitInputPixels: 200_000_000 }).autoOrient();
    const page = await writePage(image, options, index).catch((cause: unknown) => {
      throw new Failure('invalid_input', `${file} holds a picture that cannot be read: ${name}.`, { file, cause });
    });
    pages.push(page);
    await rm(path);
    onPercent(((index + 1) / members.length) * 100);
  }
  await rm(unpacked, { recursive: true, force: true });
  return pages;
}

/** A page of paper is drawn at most this finely. */
const maxDpi = 300;

async function pagesOfPdf({ path, filename }: Comic, options: ComicOptions): Promise<ComicPage[]> {
  const { directory, signal, onPercent, maxHeight } = options;
  const { default: sharp } = await import('sharp');
  const pages: ComicPage[] = [];
  await readPdf({ path, filename, password: undefined, scratch: directory }, async (reader) => {
    if (reader.pageCount > limits.maxFiles) {
      const message = `${filename} has more than ${limits.maxFiles.toLocaleString('en')} pages.`;
      throw new Failure('resource_limit', message, { file: filename });
    }
    for (let index = 0; index < reader.pageCount; index++) {
      signal.throwIfAborted();
      const { height } = reader.pageSize(index);
      const dpi = Math.min(maxDpi, Math.max(36, Math.round((maxHeight / height) * 72)));
      const { pixels, width, height: rows, channels } = reader.render(index, { dpi, transparent: false });
      const image = sharp(pixels, { raw: { width, height: rows, channels } });
      pages.push(await writePage(image, options, index));
      onPercent(((index + 1) / reader.pageCount) * 100);
    }
  });
  return pages;
}

async function writePage(
  image: import('sharp').Sharp,
  { directory, quality, maxHeight }: ComicOptions,
  index: number,
): Promise<ComicPage> {
  const path = join(directory, `page-${String(index + 1).padStart(4, '0')}.jpg`);
  const { width, height } = await image
    .resize({ height: maxHeight, withoutEnlargement: true })
    .flatten({ background: '#ffffff' })
    .toColourspace('srgb')
    .jpeg({ quality, mozjpeg: true })
    .toFile(path);
  return { path, width, height };
}
