import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type EncodeOptions, type ImageFile, type ImageFormat, type OpenImage, writeImage } from './images.ts';
import { tiffPages } from './tiff.ts';
import { createTiff } from './tiff-joining.ts';

/**
 * The pictures of a file, each to be opened by itself: the pages of a TIFF, one of everything else.
 *
 * @throws Failure `resource_limit` for too many pages.
 */
export async function pagesOf<File extends ImageFile>(file: File): Promise<File[]> {
  if (file.type !== 'tiff') return [file];
  return (await tiffPages(file)).map((page) => ({ ...file, page }));
}

/**
 * Writes a file of one picture or, when it is a TIFF, of several: `write` gets each with the path to write it to.
 *
 * @returns the size of the file in bytes.
 * @throws Failure as `write`, `resource_limit` when the pages do not fit in one TIFF.
 */
export async function writePages<Page>(
  pages: readonly Page[],
  path: string,
  { file, workspace }: Pick<OpenImage, 'file' | 'workspace'>,
  write: (page: Page, path: string) => Promise<unknown>,
): Promise<number> {
  const [only] = pages;
  if (pages.length === 1 && only !== undefined) {
    await write(only, path);
    return (await stat(path)).size;
  }
  const single = join(workspace.scratch, 'page.tiff');
  await using joined = await createTiff(path, file);
  for (const page of pages) {
    workspace.signal.throwIfAborted();
    await write(page, single);
    await joined.add(await readFile(single));
  }
  return joined.size();
}

/** The same for images that are open, all encoded alike: at least one. */
export async function writeImages(
  images: readonly OpenImage[],
  path: string,
  format: ImageFormat,
  options: EncodeOptions,
): Promise<number> {
  return writePages(images, path, images[0]!, (image, target) => writeImage(image, target, format, options));
}
