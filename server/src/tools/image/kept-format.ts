import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { heicDecoder } from '../../engines/heic.ts';
import {
  type EncodeOptions,
  type ImageFormat,
  type OpenImage,
  canMove,
  imageFormats,
  imagePrograms,
  openImage,
  photoEngines,
  photoPrograms,
  rasterTypes,
  writeImage,
} from '../../engines/images.ts';
import { jxlEngine } from '../../engines/jxl.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { InputFacts, InputFile, ToolContext } from '../define.ts';
import { eachPicture, type Picture } from './each-picture.ts';

/** What a tool needs that reads any raster image, whatever it makes of it. */
export const readsRasters = {
  accepts: rasterTypes,
  timeoutSeconds: 600,
  engines: [sharpEngine, heicDecoder, jxlEngine],
  optionalEngines: [cameraRawDecoder],
  enginesFor: (_settings: unknown, inputs: readonly InputFacts[]) => imagePrograms(inputs, 'png'),
} as const;

/** The same for tools that return each image in its own format. */
export const keepsFormat = {
  ...readsRasters,
  produces: imageFormats,
  files: { min: 1, max: 50 },
  optionalEngines: photoEngines,
  enginesFor: (_settings: unknown, inputs: readonly InputFacts[]) => photoPrograms(inputs, 'keep'),
} as const;

/** Changes images and returns each in its own format: animations move on, pages, orientation and colour profile stay. */
export function editEach(
  context: ToolContext<unknown>,
  edit: (image: OpenImage) => OpenImage | Promise<OpenImage>,
  options: EncodeOptions = {},
  inputs: readonly InputFile[] = context.inputs,
): Promise<void> {
  const write = async (picture: Picture, path: string, format: ImageFormat) => {
    const edited = await edit(await openImage(picture, context, { animated: canMove(format, picture.type) }));
    await writeImage(edited, path, format, { quality: 90, ...options });
  };
  return eachPicture(context, 'keep', write, inputs);
}
