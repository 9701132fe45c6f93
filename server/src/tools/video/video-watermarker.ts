import { ffmpeg } from '../../engines/ffmpeg.ts';
import { gridPositions } from '../../engines/image-geometry.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { evenSize, shownSize } from '../../engines/media/picture.ts';
import { type VideoMark, drawVideoMark } from '../../engines/media/video-mark.ts';
import { playableEncoding, playableType, soundFor, writeVideo } from '../../engines/media/write-video.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFacts, type InputFile } from '../define.ts';
import { choice, color, num, text, time, type Values } from '../settings.ts';
import { eachVideo } from './each-video.ts';

const markTypes = ['png', 'jpeg', 'webp', 'gif', 'svg'] as const satisfies readonly FileTypeId[];

const settings = {
  text: text({
    max: 200,
    describe: 'The text to write on the videos; without it the last file sent is the mark, an image.',
  }),
  position: choice({ of: gridPositions, default: 'bottom-right', describe: 'Where the mark goes.' }),
  opacity: num({ min: 0.01, max: 1, default: 0.6, describe: 'From nearly invisible to solid (1).' }),
  scale: num({
    min: 0.01,
    max: 1,
    default: 0.15,
    describe: 'Width of the mark as a part of the width of the video; long texts get wider, to be read.',
  }),
  color: color({ default: '#ffffff', describe: 'Colour of the text.' }),
  start: time({ describe: 'When the mark appears; from the beginning unless told.' }),
  end: time({ describe: 'When the mark goes; at the end unless told.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'video-watermarker',
  name: 'Video Watermarker',
  category: 'video',
  description: 'Puts a text or a logo on videos. WebM stays WebM, all else becomes MP4.',
  accepts: [...videoTypes, ...markTypes],
  produces: ['mp4', 'webm'],
  files: { min: 1, max: 51 },
  timeoutSeconds: 3600,
  engines: [ffmpeg, sharpEngine],
  settings,
  check,
  async run(context) {
    const { settings: chosen, inputs, signal, log, output } = context;
    const isText = hasText(chosen);
    const videos = isText ? inputs : inputs.slice(0, -1);
    const source = isText ? { text: chosen.text, color: chosen.color } : (inputs.at(-1) as InputFile);
    const mark: VideoMark = { ...chosen, source };
    await eachVideo(
      context,
      async (video, { type: given, stem }, onProgress) => {
        const type = playableType(given);
        const size = evenSize(shownSize(video.picture));
        const { inputs: furtherInputs, overlays } = await drawVideoMark(mark, size, context);
        await writeVideo({
          video,
          output: { type, path: output(`${stem}.${type}`) },
          picture: { ...playableEncoding(type, video.picture), size, overlays },
          furtherInputs,
          sound: soundFor(type),
          signal,
          onProgress,
          log,
        });
      },
      videos,
    );
  },
});

function hasText(settings: Settings): settings is Settings & { text: string } {
  return settings.text !== undefined && settings.text.trim() !== '';
}

function isImage({ type }: InputFacts): boolean {
  return (markTypes as readonly FileTypeId[]).includes(type);
}

function check(chosen: Settings, inputs: readonly InputFacts[]): FieldErrors {
  const { start, end } = chosen;
  if (start !== undefined && end !== undefined && end <= start) return { end: ['must be later than start'] };
  const last = inputs.length - 1;
  const image = inputs.findIndex((input, index) => isImage(input) && (index < last || hasText(chosen)));
  if (image !== -1 && hasText(chosen)) return { text: ['cannot be given together with an image'] };
  if (image !== -1) return { [`files.${image}`]: ['is an image, which can only be the mark, as the last file'] };
  if (hasText(chosen)) return {};
  const lastInput = inputs[last];
  if (lastInput === undefined || !isImage(lastInput)) {
    return { text: ['is required, unless the last file is an image to use as the mark'] };
  }
  return inputs.length < 2 ? { 'files.0': ['is the mark: send a video before it'] } : {};
}
