import { writeAnimationVideo } from '../../engines/animation-video.ts';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { gifsicle, optimizeGif } from '../../engines/gifsicle.ts';
import { joinFrames, keptFrames, splitFrames } from '../../engines/image-animation.ts';
import { type OpenImage, type Pixels, openImage, withSteps, writeImage } from '../../engines/images.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int, type Values } from '../settings.ts';

const settings = {
  format: choice({
    of: ['gif', 'webp', 'mp4'],
    default: 'gif',
    describe: 'The format to return; video is the smallest.',
  }),
  lossy: int({ min: 0, max: 200, default: 80, describe: 'From no loss (0) to as small as can be (200).' }),
  colors: int({ min: 2, max: 256, default: 256, describe: 'The most colours of a GIF.' }),
  width: int({ min: 1, max: 4096, describe: 'Make wider animations this wide, in pixels.' }),
  drop_frames: int({
    min: 0,
    max: 4,
    default: 0,
    describe: 'Frames to leave out after each that stays, which shows longer: 1 keeps every second.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'gif-optimizer',
  name: 'GIF Optimizer',
  category: 'image',
  description: 'Makes animated GIFs smaller, as GIF, WebP or video.',
  accepts: ['gif'],
  produces: ['gif', 'webp', 'mp4'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sharpEngine],
  optionalEngines: [gifsicle, ffmpeg],
  enginesFor: ({ format }) => (format === 'gif' ? [gifsicle] : format === 'mp4' ? [ffmpeg] : []),
  settings,
  check: ({ format, colors }) =>
    format !== 'gif' && colors < 256 ? { colors: [`is for GIF: ${format} has no palette`] } : {},
  run: (context) => eachInput(context, (input) => optimize(input, context)),
});

async function optimize(input: InputFile, context: ToolContext<Settings>): Promise<void> {
  const { format, lossy, colors, width, drop_frames: dropFrames } = context.settings;
  const image = await openImage(input, context);
  const path = context.output(`${input.stem}.${format}`);
  if (format === 'gif') return optimizeGif(image, path, { lossy, colors, width, dropFrames });
  const { frames, delay } = await shownFrames(image, context.settings, format === 'mp4');
  if (format === 'mp4') {
    // From what nobody tells from the original (18) to clearly coarse (38).
    const crf = Math.round(18 + lossy / 10);
    return writeAnimationVideo(frames, delay, { file: input, workspace: context, path, crf });
  }
  const animation = await joinFrames(frames, { delay, loop: image.timing?.loop ?? 0 }, image);
  await writeImage(animation, path, 'webp', {
    lossless: lossy === 0,
    quality: Math.round(95 - lossy * 0.35),
    effort: 'best',
  });
}

/** The frames that stay, at the size asked for; on white where they must not be transparent. */
async function shownFrames(
  image: OpenImage,
  { width, drop_frames }: Settings,
  isOpaque: boolean,
): Promise<{ frames: Pixels[]; delay: number[] }> {
  const kept = keptFrames(image.timing?.delay ?? [100], drop_frames);
  const scale = Math.min(1, (width ?? image.width) / image.width);
  const size = { width: Math.round(image.width * scale), height: Math.max(1, Math.round(image.height * scale)) };
  const scaled = withSteps(
    image,
    (pipeline) => {
      const opaque = isOpaque ? pipeline.flatten({ background: '#ffffff' }) : pipeline;
      return scale < 1 ? opaque.resize(size.width, size.height, { fit: 'fill' }) : opaque;
    },
    size,
  );
  const all = await splitFrames(scaled);
  return { frames: kept.flatMap(({ index }) => all[index] ?? []), delay: kept.map(({ delay }) => delay) };
}
