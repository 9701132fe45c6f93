import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { type AudioStream, secondsOf } from '../../engines/media/probe.ts';
import {
  type Video,
  encodedSound,
  playableEncoding,
  playableType,
  writeVideo,
} from '../../engines/media/write-video.ts';
import { defineTool } from '../define.ts';
import { flag, num } from '../settings.ts';
import { eachVideo } from './each-video.ts';

export default defineTool({
  slug: 'video-speed-changer',
  name: 'Video Speed Changer',
  category: 'video',
  description:
    'Plays videos faster or slower, with their sound. WebM stays WebM, all else becomes MP4; subtitles are left out.',
  accepts: videoTypes,
  produces: ['mp4', 'webm'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings: {
    factor: num({ min: 0.25, max: 4, default: 2, describe: 'How much faster: 2 is double speed, 0.5 is half.' }),
    keep_pitch: flag({
      default: true,
      describe: 'Keep the pitch of voices; else they get higher or deeper as on a tape.',
    }),
  },
  run: (context) =>
    eachVideo(context, async (video, { type: given, stem }, onProgress) => {
      const { signal, log, output, settings } = context;
      const { factor, keep_pitch } = settings;
      const type = playableType(given);
      const seconds = await secondsOf(video, [video.picture, ...video.audios], signal);
      await writeVideo({
        video,
        output: { type, path: output(`${stem}.${type}`) },
        picture: { ...playableEncoding(type, video.picture), filters: pictureFilters(video, factor) },
        sound: (track) => ({ ...encodedSound(type), filters: soundFilters(factor, keep_pitch, track) }),
        // Both have times of their own, which would be wrong.
        subtitles: false,
        chapters: false,
        durationSeconds: seconds / factor,
        signal,
        onProgress,
        log,
      });
    }),
});

/** A faster video keeps its frame rate: nobody sees 120 frames a second. */
function pictureFilters({ picture: { fps } }: Video, factor: number): string[] {
  return [`setpts=PTS/${factor}`, ...(factor > 1 && fps !== undefined ? [`fps=${fps}`] : [])];
}

function soundFilters(factor: number, keepPitch: boolean, { sampleRate, startSeconds }: AudioStream): string[] {
  return [...(startSeconds > 0 ? [silenceBefore] : []), ...fasterSound(factor, keepPitch, sampleRate)];
}

/** Sound that begins later keeps its distance to the picture when that is filled. */
const silenceBefore = 'aresample=async=1:first_pts=0';

function fasterSound(factor: number, keepPitch: boolean, sampleRate: number): string[] {
  if (!keepPitch) return [`asetrate=${Math.round(sampleRate * factor)}`, `aresample=${sampleRate}`];
  // Beyond double and half speed one step leaves out too much.
  if (factor > 2) return ['atempo=2', `atempo=${factor / 2}`];
  return factor < 0.5 ? ['atempo=0.5', `atempo=${factor / 0.5}`] : [`atempo=${factor}`];
}
