import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { shakeFilters, writeShake } from '../../engines/media/stabilize.ts';
import { playableEncoding, soundFor, writeVideo } from '../../engines/media/write-video.ts';
import { defineTool } from '../define.ts';
import { flag, int } from '../settings.ts';
import { eachVideo, part } from './each-video.ts';

export default defineTool({
  slug: 'video-stabilizer',
  name: 'Video Stabilizer',
  category: 'video',
  description: 'Takes the shake out of videos filmed by hand. Everything becomes MP4.',
  accepts: videoTypes,
  produces: ['mp4'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings: {
    smoothing: int({
      min: 1,
      max: 100,
      default: 15,
      describe: 'How many frames before and after are looked at: more make calmer movements.',
    }),
    zoom: flag({
      default: true,
      describe: 'Enlarge the picture as far as needed to hide its moving edges; else they are black.',
    }),
  },
  run: (context) =>
    eachVideo(context, async (video, { stem }, onProgress) => {
      const { signal, log, output, settings, scratch } = context;
      await writeShake(video, { scratch, signal, onProgress: part(onProgress, 0, 40) });
      await writeVideo({
        video,
        output: { type: 'mp4', path: output(`${stem}.mp4`) },
        picture: { ...playableEncoding('mp4', video.picture), filters: shakeFilters(settings) },
        sound: soundFor('mp4'),
        cwd: scratch,
        signal,
        onProgress: part(onProgress, 40, 100),
        log,
      });
    }),
});
