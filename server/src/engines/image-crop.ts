import type { Box, Size } from './image-geometry.ts';
import { imageFailure } from './image-failure.ts';
import { type OpenImage, openImage } from './images.ts';

/**
 * Where a part of this size shows most of what draws the eye (`attention`) or of the detail (`entropy`). The picture is
 * not scaled. In an animation the first frame decides for all, or the picture would jump.
 */
export async function cropToSubject(image: OpenImage, size: Size, strategy: 'attention' | 'entropy'): Promise<Box> {
  const width = Math.min(size.width, image.width);
  const height = Math.min(size.height, image.height);
  try {
    const still = await openImage(image.file, image.workspace, { animated: false });
    const { info } = await still.pipeline
      .resize(width, height, { fit: 'cover', position: strategy, withoutReduction: true })
      .raw()
      .toBuffer({ resolveWithObject: true });
    return { left: -(info.cropOffsetLeft ?? 0), top: -(info.cropOffsetTop ?? 0), width, height };
  } catch (error) {
    throw imageFailure(error, image.file);
  }
}
