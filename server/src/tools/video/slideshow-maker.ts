import { join } from 'node:path';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { heicDecoder } from '../../engines/heic.ts';
import { rasterTypes } from '../../engines/images.ts';
import { jxlEngine } from '../../engines/jxl.ts';
import { audioTypes } from '../../engines/media/media-types.ts';
import { probe } from '../../engines/media/probe.ts';
import { slideFits, writeSlide, writeSlideshow } from '../../engines/media/slideshow.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFacts, type InputFile, type ToolContext } from '../define.ts';
import { choice, int, num, type Values } from '../settings.ts';
import { part } from './each-video.ts';

const sizes = {
  '2160p': { width: 3840, height: 2160 },
  '1080p': { width: 1920, height: 1080 },
  '720p': { width: 1280, height: 720 },
  '480p': { width: 854, height: 480 },
  vertical: { width: 1080, height: 1920 },
  square: { width: 1080, height: 1080 },
} as const;

const settings = {
  format: choice({ of: ['mp4', 'webm'], default: 'mp4', describe: 'The format to return.' }),
  seconds_per_image: num({ min: 0.5, max: 30, default: 3, describe: 'How long each image is shown, in seconds.' }),
  resolution: choice({
    of: ['2160p', '1080p', '720p', '480p', 'vertical', 'square'],
    default: '1080p',
    describe: 'Size of the video; vertical is 1080 x 1920, square 1080 x 1080.',
  }),
  fps: int({ min: 10, max: 60, default: 30, describe: 'Frames a second.' }),
  transition: choice({ of: ['none', 'crossfade'], default: 'none', describe: 'How one image becomes the next.' }),
  fit: choice({
    of: slideFits,
    default: 'contain',
    describe: 'How images of another shape come into the video: with black borders, cut, or before themselves blurred.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'slideshow-maker',
  name: 'Slideshow Maker',
  category: 'video',
  description:
    'Makes a video of images in the order they are sent. An audio file among them becomes the music, repeated or cut to fit.',
  accepts: [...rasterTypes, ...audioTypes],
  produces: ['mp4', 'webm'],
  files: { min: 2, max: 100 },
  timeoutSeconds: 3600,
  engines: [ffmpeg, sharpEngine, heicDecoder, jxlEngine],
  optionalEngines: [cameraRawDecoder],
  enginesFor: (_settings, inputs) => (inputs.some(({ type }) => type === 'raw') ? [cameraRawDecoder] : []),
  settings,
  check,
  async run(context) {
    const { inputs, settings: chosen, output, scratch, progress } = context;
    const { format, seconds_per_image, resolution, fps, transition, fit } = chosen;
    const images = inputs.filter((input) => !isAudio(input));
    const slides: string[] = [];
    for (const [index, image] of images.entries()) {
      context.signal.throwIfAborted();
      const path = join(scratch, `slide-${index}.png`);
      await writeSlide(image, context, sizes[resolution], fit, path);
      slides.push(path);
      progress(((index + 1) / images.length) * 30);
    }
    await writeSlideshow({
      slides,
      secondsPerSlide: seconds_per_image,
      crossfade: transition === 'crossfade',
      fps,
      size: sizes[resolution],
      audio: await music(context),
      output: { type: format, path: output(`${images[0]?.stem}-slideshow.${format}`) },
      workspace: context,
      onProgress: part(progress, 30, 100),
    });
  },
});

function isAudio({ type }: InputFacts): boolean {
  return (audioTypes as readonly FileTypeId[]).includes(type);
}

function check(_settings: Settings, inputs: readonly InputFacts[]): FieldErrors {
  const sounds = inputs.flatMap((input, index) => (isAudio(input) ? [index] : []));
  if (sounds.length > 1) return { [`files.${sounds[1]}`]: ['is a second audio file; a slideshow has one'] };
  return sounds.length === inputs.length ? { 'files.0': ['is no image'] } : {};
}

async function music({ inputs, signal }: ToolContext<Settings>): Promise<InputFile | undefined> {
  const file = inputs.find(isAudio);
  if (file === undefined) return undefined;
  const { audios } = await probe(file, signal);
  if (audios.length > 0) return file;
  throw new Failure('invalid_input', `"${file.filename}" has no sound that can be read.`, { file: file.filename });
}
