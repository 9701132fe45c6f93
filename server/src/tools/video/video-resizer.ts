import { ffmpeg } from '../../engines/ffmpeg.ts';
import { parseAspectRatio } from '../../engines/image-geometry.ts';
import { fitFilters, fits } from '../../engines/media/fit-picture.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { type PictureSize, evenSize, fitSize, shownSize } from '../../engines/media/picture.ts';
import { playableEncoding, playableType, soundFor, writeVideo } from '../../engines/media/write-video.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { defineTool } from '../define.ts';
import { choice, int, text, type Values } from '../settings.ts';
import { eachVideo } from './each-video.ts';

const settings = {
  width: int({ min: 16, max: 8192, describe: 'Width in pixels; made even.' }),
  height: int({ min: 16, max: 8192, describe: 'Height in pixels; made even.' }),
  preset: choice({
    of: ['2160p', '1440p', '1080p', '720p', '480p', '360p'],
    describe:
      'A usual size instead of width and height: the length of the shorter side, at 16:9 unless aspect_ratio says.',
  }),
  fit: choice({
    of: fits,
    default: 'contain',
    describe:
      'How the picture comes into the size: contain makes the result as small as the picture, cover cuts off what is too much, pad adds black borders, blur_pad borders of the blurred picture.',
  }),
  aspect_ratio: text({
    max: 20,
    describe:
      'Width to height, such as 9:16: with one side or a preset the other side follows from it; alone, the size stays about as it is.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'video-resizer',
  name: 'Video Resizer',
  category: 'video',
  description: 'Changes the size or the shape of videos. WebM stays WebM, all else becomes MP4.',
  accepts: videoTypes,
  produces: ['mp4', 'webm'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachVideo(context, async (video, { type: given, stem }, onProgress) => {
      const { signal, log, output, settings: chosen } = context;
      const type = playableType(given);
      const shown = shownSize(video.picture);
      const { width, height } = boxFor(shown, chosen);
      const isFilled = width !== undefined && height !== undefined && chosen.fit !== 'contain';
      const size = isFilled ? evenSize({ width, height }) : fitSize(shown, width, height);
      const square = [`scale=${shown.width}:${shown.height}`, 'setsar=1'];
      await writeVideo({
        video,
        output: { type, path: output(`${stem}.${type}`) },
        picture: {
          ...playableEncoding(type, video.picture),
          filters: isFilled ? [...square, ...fitFilters(chosen.fit, size)] : [],
          size,
        },
        sound: soundFor(type),
        signal,
        onProgress,
        log,
      });
    }),
});

function check({ width, height, preset, fit, aspect_ratio }: Settings): FieldErrors {
  const hasSide = width !== undefined || height !== undefined;
  if (preset !== undefined && hasSide) return { preset: ['cannot be given together with width or height'] };
  if (aspect_ratio === undefined) {
    return hasSide || preset !== undefined ? {} : { width: ['or height, preset or aspect_ratio is required'] };
  }
  const ratio = parseAspectRatio(aspect_ratio);
  if (ratio === undefined || ratio > 20 || ratio < 0.05) {
    return { aspect_ratio: ['must be width to height, such as 16:9, up to 20 to 1'] };
  }
  if (width !== undefined && height !== undefined) {
    return { aspect_ratio: ['cannot be given together with both width and height'] };
  }
  if (fit === 'contain')
    return { fit: ['must be cover, pad or blur_pad when aspect_ratio is given: contain keeps the shape'] };
  return {};
}

/** The sides that were asked for; those left open follow from the picture. */
function boxFor(shown: PictureSize, { width, height, preset, aspect_ratio, fit }: Settings): Partial<PictureSize> {
  const ratio = aspect_ratio === undefined ? undefined : parseAspectRatio(aspect_ratio);
  if (preset !== undefined) {
    const usual = shown.width >= shown.height ? 16 / 9 : 9 / 16;
    return ofShortSide(Number.parseInt(preset, 10), ratio ?? usual);
  }
  if (ratio === undefined)
    return { ...(width === undefined ? {} : { width }), ...(height === undefined ? {} : { height }) };
  if (width !== undefined) return { width, height: width / ratio };
  if (height !== undefined) return { width: height * ratio, height };
  const isWider = ratio > shown.width / shown.height;
  // Cutting keeps the side that is too short for the shape, borders keep the whole picture.
  const keepsWidth = fit === 'cover' ? isWider : !isWider;
  return keepsWidth
    ? { width: shown.width, height: shown.width / ratio }
    : { width: shown.height * ratio, height: shown.height };
}

function ofShortSide(side: number, ratio: number): PictureSize {
  return ratio >= 1 ? { width: side * ratio, height: side } : { width: side, height: side / ratio };
}
