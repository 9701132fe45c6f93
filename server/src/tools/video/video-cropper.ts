import { ffmpeg } from '../../engines/ffmpeg.ts';
import { type Box, clampToImage } from '../../engines/image-geometry.ts';
import { detectBorders } from '../../engines/media/crop-detect.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { shownSize } from '../../engines/media/picture.ts';
import { keptVideoType } from '../../engines/media/video-formats.ts';
import { type Video, keptEncoding, soundFor, writeVideo } from '../../engines/media/write-video.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool, type ToolContext } from '../define.ts';
import { flag, int, type Values } from '../settings.ts';
import { eachVideo, part, type Progress } from './each-video.ts';

const settings = {
  x: int({ min: 0, max: 16384, describe: 'Left edge of what stays, in pixels; in the middle unless told.' }),
  y: int({ min: 0, max: 16384, describe: 'Top edge of what stays, in pixels; in the middle unless told.' }),
  width: int({ min: 2, max: 16384, describe: 'Width of what stays; required unless auto. Made even.' }),
  height: int({ min: 2, max: 16384, describe: 'Height of what stays; required unless auto. Made even.' }),
  auto: flag({ default: false, describe: 'Find black borders and cut them off.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'video-cropper',
  name: 'Video Cropper',
  category: 'video',
  description: 'Cuts videos down to a part of their picture, or removes black borders.',
  accepts: videoTypes,
  produces: videoTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachVideo(context, async (video, { type: given, stem }, onProgress) => {
      const { signal, log, output, settings: chosen } = context;
      const box = chosen.auto ? await findBox(video, context, part(onProgress, 0, 30)) : givenBox(video, chosen);
      const type = keptVideoType(given);
      await writeVideo({
        video,
        output: { type, path: output(`${stem}.${extensionOf(type)}`) },
        picture: box === undefined ? 'copy' : cropped(video, box, type),
        sound: soundFor(type),
        signal,
        onProgress: chosen.auto ? part(onProgress, 30, 100) : onProgress,
        log,
      });
    }),
});

function check({ x, y, width, height, auto }: Settings): FieldErrors {
  const errors: FieldErrors = {};
  for (const [name, value] of Object.entries({ x, y, width, height })) {
    if (auto && value !== undefined) errors[name] = ['cannot be given together with auto'];
  }
  if (auto) return errors;
  if (width === undefined) errors['width'] = ['is required unless auto is true'];
  if (height === undefined) errors['height'] = ['is required unless auto is true'];
  return errors;
}

function cropped(video: Video, { left, top, width, height }: Box, type: ReturnType<typeof keptVideoType>) {
  const shown = shownSize(video.picture);
  return {
    ...keptEncoding(type, video.picture),
    filters: [`scale=${shown.width}:${shown.height}`, `crop=${width}:${height}:${left}:${top}:exact=1`],
    size: { width, height },
  };
}

function givenBox(video: Video, { x, y, width = 0, height = 0 }: Settings): Box {
  const shown = shownSize(video.picture);
  const left = x ?? Math.max(0, Math.round((shown.width - width) / 2));
  const top = y ?? Math.max(0, Math.round((shown.height - height) / 2));
  const box = clampToImage({ left, top, width, height }, shown);
  const even = box === undefined ? undefined : { ...box, width: box.width & ~1, height: box.height & ~1 };
  if (even !== undefined && even.width > 0 && even.height > 0) return even;
  const { filename } = video.file;
  const message = `"${filename}" is ${shown.width} x ${shown.height} pixels: the part lies outside of it.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** What black borders leave; undefined when there are none. */
async function findBox(
  video: Video,
  { signal }: ToolContext<Settings>,
  onProgress: Progress,
): Promise<Box | undefined> {
  const found = await detectBorders(video, signal, onProgress);
  const { picture, file } = video;
  if (found === undefined) {
    const message = `"${file.filename}" is dark all over: there is no picture between borders.`;
    throw new Failure('invalid_input', message, { file: file.filename });
  }
  // One or two pixels are what rounding to even sides takes away, no border.
  if (picture.width - found.width <= 2 && picture.height - found.height <= 2) return undefined;
  const shown = shownSize(picture);
  const [across, down] = [shown.width / picture.width, shown.height / picture.height];
  return {
    left: Math.round(found.left * across),
    top: Math.round(found.top * down),
    width: Math.floor(found.width * across) & ~1,
    height: Math.floor(found.height * down) & ~1,
  };
}
