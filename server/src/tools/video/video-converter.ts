import { ffmpeg } from '../../engines/ffmpeg.ts';
import { writeAnimation } from '../../engines/media/animation.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { fitSize, shownSize } from '../../engines/media/picture.ts';
import { containers, holdsAudio, holdsVideo, presets } from '../../engines/media/video-formats.ts';
import { type SoundWork, type Video, writeVideo } from '../../engines/media/write-video.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf, fileTypes } from '../../lib/media-types.ts';
import { defineTool, type ToolContext } from '../define.ts';
import { choice, int, type Values } from '../settings.ts';
import { eachVideo, type Progress } from './each-video.ts';

const formats = ['mp4', 'webm', 'mov', 'mkv', 'avi', 'gif'] as const;
type VideoFormat = Exclude<(typeof formats)[number], 'gif'>;
const videoCodecs = { h264: 'h264', h265: 'hevc', vp9: 'vp9', av1: 'av1' } as const;

const settings = {
  format: choice({ of: formats, default: 'mp4', describe: 'The format to return.' }),
  video_codec: choice({
    of: ['auto', 'h264', 'h265', 'vp9', 'av1', 'copy'],
    default: 'auto',
    describe:
      'auto takes what the format is usually played in (VP9 in WebM, H.264 elsewhere); copy changes no picture.',
  }),
  audio_codec: choice({
    of: ['auto', 'aac', 'opus', 'mp3', 'copy', 'none'],
    default: 'auto',
    describe: 'auto takes Opus in WebM, MP3 in AVI and AAC elsewhere; copy keeps the sound as it is, none drops it.',
  }),
  crf: int({
    min: 0,
    max: 51,
    default: 23,
    describe: 'Quality on the scale of H.264: lower is better and larger. Other codecs get what corresponds to it.',
  }),
  preset: choice({
    of: presets,
    default: 'medium',
    describe: 'Slower presets take longer and make smaller files of the same quality.',
  }),
  width: int({ min: 2, max: 8192, describe: 'Pixels; with height as well the picture is fitted into both.' }),
  height: int({ min: 2, max: 8192, describe: 'Pixels; the sides keep their ratio.' }),
  fps: int({ min: 1, max: 120, describe: 'Frames a second; those of the video unless told, 12 for GIF.' }),
  audio_bitrate_kbps: int({
    min: 32,
    max: 512,
    default: 128,
    describe: 'Kilobits a second of encoded stereo sound; more channels get more.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'video-converter',
  name: 'Video Converter',
  category: 'video',
  description: 'Converts videos to another format or codec, with all their tracks of sound.',
  accepts: [...videoTypes, 'gif'],
  produces: formats,
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachVideo(context, (video, { stem }, onProgress) => {
      const { format } = context.settings;
      const path = context.output(`${stem}.${extensionOf(format)}`);
      if (format === 'gif') return toGif(video, path, context, onProgress);
      return convert(video, { type: format, path }, context, onProgress);
    }),
});

function check({ format, video_codec, audio_codec, width, height, fps }: Settings): FieldErrors {
  if (format === 'gif') {
    if (video_codec !== 'auto') return { video_codec: ['has no place in a GIF; leave it at auto'] };
    if (audio_codec !== 'auto' && audio_codec !== 'none') return { audio_codec: ['has no place in a GIF'] };
    if (fps !== undefined && fps > 50) return { fps: ['must be at most 50 for a GIF'] };
    return {};
  }
  const errors: FieldErrors = {};
  const resized = width !== undefined || height !== undefined || fps !== undefined;
  if (video_codec === 'copy' && resized) {
    errors['video_codec'] = ['cannot be copy when the size or the frame rate changes'];
  } else if (video_codec !== 'auto' && video_codec !== 'copy' && !holdsVideo(format, videoCodecs[video_codec])) {
    errors['video_codec'] = [`${video_codec} cannot be stored in ${format}`];
  }
  const encoded = audio_codec !== 'auto' && audio_codec !== 'copy' && audio_codec !== 'none';
  if (encoded && !holdsAudio(format, audio_codec))
    errors['audio_codec'] = [`${audio_codec} cannot be stored in ${format}`];
  return errors;
}

async function convert(
  video: Video,
  output: { type: VideoFormat; path: string },
  { settings: chosen, signal, log }: ToolContext<Settings>,
  onProgress: Progress,
): Promise<void> {
  const { video_codec, crf, preset, width, height, fps } = chosen;
  const { type } = output;
  if (video_codec === 'copy') assertHolds(video, type, holdsVideo(type, video.picture.codec), video.picture.codec);
  const codec = video_codec === 'auto' || video_codec === 'copy' ? containers[type].video : videoCodecs[video_codec];
  const size = fitSize(shownSize(video.picture), width, height);
  await writeVideo({
    video,
    output,
    picture: video_codec === 'copy' ? 'copy' : { codec, rate: { crf }, preset, size, fps },
    sound: soundWork(video, type, chosen),
    signal,
    onProgress,
    log,
  });
}

function soundWork(
  video: Video,
  type: VideoFormat,
  { audio_codec, audio_bitrate_kbps }: Settings,
): SoundWork | 'copy' | 'none' {
  if (audio_codec === 'none') return 'none';
  if (audio_codec !== 'copy') {
    return { codec: audio_codec === 'auto' ? containers[type].audio : audio_codec, bitRate: audio_bitrate_kbps * 1000 };
  }
  for (const { codec } of video.audios) assertHolds(video, type, holdsAudio(type, codec), codec);
  return 'copy';
}

function assertHolds({ file: { filename } }: Video, type: VideoFormat, holds: boolean, codec: string): void {
  if (holds) return;
  const message = `"${filename}" holds ${codec}, which cannot be copied into ${fileTypes[type].name}: choose a codec instead of copy.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** Longer ones are larger than the video they come from. */
const longestGif = 60;

async function toGif(video: Video, path: string, context: ToolContext<Settings>, onProgress: Progress): Promise<void> {
  const { width, height, fps = 12 } = context.settings;
  const { filename } = video.file;
  if (video.durationSeconds > longestGif) {
    const message = `"${filename}" is longer than ${longestGif} seconds: make a GIF of a part of it with the Video to GIF Converter.`;
    throw new Failure('resource_limit', message, { file: filename });
  }
  const shown = shownSize(video.picture);
  const usual = width === undefined && height === undefined ? Math.min(480, shown.width) : width;
  await writeAnimation({
    video,
    path,
    format: 'gif',
    range: { start: 0, duration: video.durationSeconds },
    fps: Math.min(50, fps),
    size: fitSize(shown, usual, height),
    loop: 0,
    signal: context.signal,
    onProgress,
  });
}
