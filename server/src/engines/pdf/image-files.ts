import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type PDFDict, PDFStream } from '@cantoo/pdf-lib';
import type { ImageFile, Workspace } from '../images.ts';
import { type ImagePageLayout, createImagePdf, picturesOf } from './image-page.ts';
import { writePdf } from './write.ts';

/** A stream whose bytes wait on the disk until it is written: two hundred photos need no more memory than one. */
class StoredStream extends PDFStream {
  readonly #path: string;

  constructor(dict: PDFDict, path: string) {
    super(dict);
    this.#path = path;
  }

  override getContents(): Uint8Array {
    return readFileSync(this.#path);
  }
}

/**
 * Writes one PDF of images in their order, one a page (a TIFF has as many as it has pages); returns the number of pages.
 *
 * @throws Failure `invalid_input`, `resource_limit`
 */
export async function writeImagesAsPdf(
  files: readonly ImageFile[],
  path: string,
  layout: ImagePageLayout,
  { workspace, onFile }: { workspace: Workspace; onFile(count: number): void },
): Promise<number> {
  const stored: string[] = [];
  const builder = createImagePdf(layout, async (dict, data) => {
    const file = join(workspace.scratch, `picture-${stored.length}`);
    await writeFile(file, data);
    stored.push(file);
    return new StoredStream(dict, file);
  });
  for (const [index, file] of files.entries()) {
    workspace.signal.throwIfAborted();
    for await (const picture of picturesOf(file, workspace)) await builder.add(picture);
    onFile(index + 1);
  }
  const { context, pages } = builder.finish();
  await writePdf(context, path);
  await Promise.all(stored.map((file) => rm(file)));
  return pages.length;
}
