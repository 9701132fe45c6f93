import { join } from 'node:path';
import { copyFile, rename, stat } from 'node:fs/promises';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { type CompressionJob, writeAtBitRate, writeWithinBytes } from '../../engines/media/compress-video.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { evenSize, fitSize, shownSize } from '../../engines/media/picture.ts';
import type { AudioStream } from '../../engines/media/probe.ts';
import { containers, holdsAudio, holdsVideo } from '../../engines/media/video-formats.ts';
import { type SoundWork, type Video, writeVideo } from '../../engines/media/write-video.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { choice, int, num, type Values } from '../settings.ts';
import { eachVideo, type Progress } from './each-video.ts';

const codecs = { h264: 'h264', h265: 'hevc', vp9: 'vp9', av1: 'av1' } as const;

const settings = {
  mode: choice({
    of: ['crf', 'target_size', 'bitrate'],
    default: 'crf',
    describe: 'Aim at a quality, at a file size or at a bit rate.',
  }),
  crf: int({
    min: 18,
    max: 40,
    default: 28,
    describe: 'With mode crf: quality on the scale of H.264; lower is better and larger.',
  }),
  target_size_mb: num({
    min: 0.01,
    max: 100_000,
    describe: 'With mode target_size: the largest file to return, in megabytes of 1,000,000 bytes.',
  }),
  video_bitrate_kbps: int({
    min: 32,
    max: 100_000,
    describe: 'With mode bitrate: kilobits a second of the picture.',
  }),
  max_height: choice({
    of: ['2160', '1440', '1080', '720', '480', '360'],
    describe: 'Make taller videos this tall, in pixels.',
  }),
  codec: choice({
    of: ['h264', 'h265', 'vp9', 'av1'],
    default: 'h264',
    describe: 'H.264 plays everywhere; H.265, VP9 and AV1 are smaller and take longer.',
  }),
  format: choice({ of: ['mp4', 'webm'], default: 'mp4', describe: 'The format to return; WebM takes VP9 and AV1.' }),
  audio_bitrate_kbps: int({
    min: 32,
    max: 320,
    default: 96,
    describe: 'Kilobits a second of stereo sound; sound that is smaller already stays as it is.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'video-compressor',
  name: 'Video Compressor',
  category: 'video',
  description:
    'Makes videos smaller, by quality, to a target file size or to a bit rate. A video that cannot get smaller is returned as it is.',
  accepts: videoTypes,
  produces: videoTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) => eachVideo(context, (video, input, onProgress) => compress(video, input, context, onProgress)),
});

function check({ mode, target_size_mb, video_bitrate_kbps, codec, format }: Settings): FieldErrors {
  if (mode === 'target_size' && target_size_mb === undefined) {
    return { target_size_mb: ['is required when mode is target_size'] };
  }
  if (mode === 'bitrate' && video_bitrate_kbps === undefined) {
    return { video_bitrate_kbps: ['is required when mode is bitrate'] };
  }
  if (!holdsVideo(format, codecs[codec])) return { codec: [`${codec} cannot be stored in ${format}`] };
  return {};
}

async function compress(
  video: Video,
  input: InputFile,
  context: ToolContext<Settings>,
  onProgress: Progress,
): Promise<void> {
  const { settings: chosen, signal, log, scratch, output } = context;
  const { format, codec, mode, crf, max_height, target_size_mb = 0, video_bitrate_kbps = 0 } = chosen;
  const shown = shownSize(video.picture);
  const isTooTall = max_height !== undefined && shown.height > Number(max_height);
  const targetBytes = mode === 'target_size' ? Math.floor(target_size_mb * 1_000_000) : Infinity;
  const keepInput = () => copyFile(input.path, output(`${input.stem}.${extensionOf(input.type)}`));
  if (mode === 'target_size' && input.sizeBytes <= targetBytes && !isTooTall) return keepInput();

  const path = join(scratch, 'compressed');
  const job: CompressionJob = {
    video,
    output: { type: format, path },
    picture: {
      codec: codecs[codec],
      preset: 'medium',
      size: isTooTall ? fitSize(shown, undefined, Number(max_height)) : evenSize(shown),
    },
    sound: soundWork(chosen),
    scratch,
    signal,
    onProgress,
    log,
  };
  if (mode === 'target_size') await writeWithinBytes(job, Math.min(targetBytes, input.sizeBytes));
  else if (mode === 'bitrate') await writeAtBitRate(job, video_bitrate_kbps * 1000);
  else await writeVideo({ ...job, picture: { ...job.picture, rate: { crf } } });

  const { size } = await stat(path);
  if (size >= input.sizeBytes && !isTooTall) return keepInput();
  // A smaller picture that became a larger file was packed better before: it may use as much as it did.
  if (size >= input.sizeBytes) await writeWithinBytes(job, input.sizeBytes);
  await rename(path, output(`${input.stem}.${format}`));
}

/** Sound that is no larger than asked for is not encoded again: it would only lose. */
function soundWork({ format, audio_bitrate_kbps }: Settings): (track: AudioStream) => SoundWork | 'copy' {
  return ({ codec, bitRate, channels }) => {
    const wanted = audio_bitrate_kbps * 1000;
    const isSmall = bitRate !== undefined && bitRate <= wanted * Math.max(1, channels / 2) * 1.05;
    return isSmall && holdsAudio(format, codec) ? 'copy' : { codec: containers[format].audio, bitRate: wanted };
  };
}
