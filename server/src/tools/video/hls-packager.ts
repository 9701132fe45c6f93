import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeZip, yazl } from '../../engines/archives.ts';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { writeHls } from '../../engines/media/hls.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { defineTool } from '../define.ts';
import { flag, int, json } from '../settings.ts';
import { eachVideo, part } from './each-video.ts';

const usualRenditions = [1080, 720, 480];
const mostRenditions = 6;

export default defineTool({
  slug: 'hls-packager',
  name: 'HLS Packager',
  category: 'video',
  description: 'Packages videos for streaming: a ZIP with master.m3u8 and segments in several sizes (H.264 and AAC).',
  accepts: videoTypes,
  produces: ['zip'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg, yazl],
  settings: {
    renditions: json<number[]>({
      describe: `Sizes as a list of the shorter side in pixels; [${usualRenditions.join(', ')}] unless told. Larger ones than the video are left out.`,
      schema: {
        type: 'array',
        items: { type: 'integer', minimum: 144, maximum: 4320 },
        minItems: 1,
        maxItems: mostRenditions,
      },
      check: (value) => {
        const isSize = (item: unknown) => Number.isInteger(item) && Number(item) >= 144 && Number(item) <= 4320;
        if (Array.isArray(value) && value.length > 0 && value.length <= mostRenditions && value.every(isSize)) {
          return { value: value as number[] };
        }
        return { problem: `must be a JSON list of 1 to ${mostRenditions} whole numbers from 144 to 4320` };
      },
    }),
    segment_s: int({ min: 2, max: 10, default: 6, describe: 'Seconds of a segment.' }),
    encrypt: flag({
      default: false,
      describe:
        'Encrypt the segments (AES-128). The key is in the ZIP as encryption.key: serve it only to those who may watch.',
    }),
  },
  run: (context) =>
    eachVideo(context, async (video, { stem }, onProgress) => {
      const { settings, scratch, signal, output } = context;
      const work = join(scratch, 'hls');
      const directory = join(work, 'package');
      await mkdir(directory, { recursive: true });
      const entries = await writeHls({
        video,
        renditions: settings.renditions ?? usualRenditions,
        segmentSeconds: settings.segment_s,
        encrypt: settings.encrypt,
        directory,
        signal,
        onProgress: part(onProgress, 0, 95),
      });
      // Video does not get smaller.
      await writeZip(output(`${stem}.zip`), entries, { level: 0, signal, onBytes: () => undefined });
      await rm(work, { recursive: true });
    }),
});
