import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeZip, yazl } from '../../engines/archives.ts';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { type FrameOptions, writeFrame, writeFrames } from '../../engines/media/frames.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { evenSize, shownSize } from '../../engines/media/picture.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool, type ToolContext } from '../define.ts';
import { choice, num, type Values } from '../settings.ts';
import { eachVideo, type Progress } from './each-video.ts';
import { assertStartsWithin, moments } from './time-range.ts';

const settings = {
  mode: choice({
    of: ['every_nth', 'fps', 'timestamps'],
    default: 'fps',
    describe: 'Take every so manieth frame, so many a second, or those at given times.',
  }),
  value: num({
    min: 0.001,
    max: 100_000,
    default: 1,
    describe: 'With every_nth: which frame to take; with fps: how many a second, at most 120.',
  }),
  timestamps: moments('With mode timestamps: a list of seconds, such as [0, 1.5, 60].'),
  format: choice({ of: ['jpeg', 'png'], default: 'jpeg', describe: 'The format of the pictures.' }),
};
type Settings = Values<typeof settings>;

/** More pictures than this come in one ZIP. */
const mostOutputs = 1000;
const mostFrames = 20_000;

export default defineTool({
  slug: 'video-frame-extractor',
  name: 'Video Frame Extractor',
  category: 'video',
  description: `Saves frames of videos as pictures; more than ${mostOutputs} of a video come in a ZIP.`,
  accepts: videoTypes,
  produces: ['jpeg', 'png', 'zip'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg, yazl],
  settings,
  check,
  run: (context) =>
    eachVideo(context, async (video, { stem }, onProgress) => {
      const directory = join(context.scratch, 'frames');
      await mkdir(directory);
      const size = evenSize(shownSize(video.picture));
      const options: FrameOptions = { video, format: context.settings.format, size, signal: context.signal };
      await giveOut(await extract(options, directory, context, onProgress), stem, context);
      await rm(directory, { recursive: true });
    }),
});

function check({ mode, value, timestamps }: Settings): FieldErrors {
  if (mode === 'timestamps') {
    return timestamps === undefined ? { timestamps: ['is required when mode is timestamps'] } : {};
  }
  if (timestamps !== undefined) return { timestamps: [`has no effect when mode is ${mode}`] };
  if (mode === 'every_nth' && !(Number.isInteger(value) && value >= 1)) {
    return { value: ['must be a whole number from 1 when mode is every_nth'] };
  }
  if (mode === 'fps' && value > 120) return { value: ['must be at most 120 when mode is fps'] };
  return {};
}

async function extract(
  options: FrameOptions,
  directory: string,
  { settings: { mode, value, timestamps = [] } }: ToolContext<Settings>,
  onProgress: Progress,
): Promise<string[]> {
  const { video, signal } = options;
  if (mode !== 'timestamps') {
    assertFewEnough(options, mode, value);
    const pick = mode === 'fps' ? { fps: value } : { everyNth: value };
    return writeFrames({ ...options, pick, limit: mostFrames, directory, onProgress });
  }
  for (const seconds of timestamps) assertStartsWithin(video, seconds);
  const paths: string[] = [];
  for (const [index, seconds] of timestamps.entries()) {
    signal.throwIfAborted();
    const path = join(directory, String(index + 1).padStart(6, '0'));
    await writeFrame(options, seconds, path);
    paths.push(path);
    onProgress(((index + 1) / timestamps.length) * 100);
  }
  return paths;
}

/** Better said before than after an hour of work. */
function assertFewEnough({ video }: FrameOptions, mode: 'fps' | 'every_nth', value: number): void {
  const { durationSeconds, picture, file } = video;
  const count = Math.floor(durationSeconds * (mode === 'fps' ? value : (picture.fps ?? 1) / value));
  if (count <= mostFrames) return;
  const message = `"${file.filename}" would give about ${count} pictures: the limit is ${mostFrames}.`;
  throw new Failure('resource_limit', message, { file: file.filename });
}

async function giveOut(
  paths: readonly string[],
  stem: string,
  { settings, output, signal }: ToolContext<Settings>,
): Promise<void> {
  const extension = extensionOf(settings.format);
  const named = paths.map((path) => ({ path, name: `${stem}-${basename(path)}.${extension}` }));
  if (paths.length <= mostOutputs) {
    for (const { path, name } of named) await rename(path, output(name));
    return;
  }
  const entries = await Promise.all(
    named.map(async ({ path, name }) => ({ path, name, sizeBytes: (await stat(path)).size })),
  );
  // Pictures do not get smaller.
  await writeZip(output(`${stem}.zip`), entries, { level: 0, signal, onBytes: () => undefined });
}
