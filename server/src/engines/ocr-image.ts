import { join } from 'node:path';
import { pagesOf } from './image-pages.ts';
import { openImage, type ImageFile, type Workspace } from './images.ts';
import { imageFailure } from './image-failure.ts';
import { openWithSharp } from './sharp.ts';

/** A picture made ready for text recognition: grey, upright, on white. */
export interface OcrPicture {
  path: string;
  /** Pixels of the original, upright. */
  width: number;
  height: number;
  /** Pixels of the picture for one of the original. */
  scale: number;
  dpi: number | undefined;
  /** Large enough to find the threshold between ink and paper for each place. */
  isRoomy: boolean;
  /** One shade all over: Tesseract would see letters in it when told that there is a word. */
  isBlank: boolean;
}

/** Tesseract looks at windows of this order; it fails on a picture that is smaller. */
const roomyPixels = 100;

/** Letters of a page this high are large enough; a smaller picture is a screenshot or a clipping. */
const goodHeight = 1600;
const maxScale = 3;
/** Larger pictures are read no better, only slower. */
const maxRecognisedPixels = 40_000_000;

/**
 * The pictures of an image file, one a page for TIFF: turned upright, transparent places white. `enhance` also stretches
 * the contrast and enlarges small pictures.
 *
 * @throws Failure as `openImage`.
 */
export async function* ocrPictures(
  file: ImageFile,
  workspace: Workspace,
  { enhance }: { enhance: boolean },
): AsyncGenerator<{ picture: OcrPicture; pageCount: number }> {
  const pages = await pagesOf(file);
  for (const page of pages) {
    workspace.signal.throwIfAborted();
    yield { picture: await preparePicture(page, workspace, enhance), pageCount: pages.length };
  }
}

async function preparePicture(file: ImageFile, workspace: Workspace, enhance: boolean): Promise<OcrPicture> {
  try {
    const path = join(workspace.scratch, 'ocr-picture.png');
    const { pipeline, ...image } = await openImage(file, workspace, { animated: false });
    const size = { width: image.width, height: image.height };
    const { density } = await pipeline.clone().metadata();
    const wanted = enhance ? Math.min(maxScale, Math.max(1, goodHeight / Math.max(size.width, size.height))) : 1;
    const scale = Math.min(wanted, Math.sqrt(maxRecognisedPixels / (size.width * size.height)));
    let grey = pipeline.flatten({ background: '#ffffff' }).toColourspace('b-w');
    if (scale !== 1) grey = grey.resize(Math.max(1, Math.round(size.width * scale)), null, { kernel: 'cubic' });
    if (enhance) grey = grey.normalise({ lower: 1, upper: 99 });
    const info = await grey.png({ compressionLevel: 1 }).toFile(path);
    const { channels } = await (await openWithSharp(path)).stats();
    const isKnown = density !== undefined && density >= 100 && density <= 2400;
    return {
      path,
      ...size,
      scale: info.width / size.width,
      dpi: isKnown ? density * scale : undefined,
      isRoomy: Math.min(info.width, info.height) >= roomyPixels,
      isBlank: channels.every(({ min, max }) => min === max),
    };
  } catch (error) {
    throw imageFailure(error, file);
  }
}
