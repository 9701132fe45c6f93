import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { canBeCopied, partFrames } from '../../engines/media/part-frames.ts';
import { keptVideoType } from '../../engines/media/video-formats.ts';
import { encodedSound, isSeekable, keptEncoding, writeVideo } from '../../engines/media/write-video.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { flag, time, type Values } from '../settings.ts';
import { eachVideo } from './each-video.ts';
import { assertStartsWithin } from './time-range.ts';

const settings = {
  start: time({ default: '0', describe: 'Where the part begins: seconds, or a time such as 00:01:30.250.' }),
  end: time({ describe: 'Where the part ends; the end of the video unless told.' }),
  duration: time({ describe: 'How long the part is, instead of end.' }),
  precise: flag({
    default: false,
    describe:
      'Cut at the very frame and encode the picture again; else nothing is encoded again, which is fast, and the part may begin up to 12 seconds earlier, at a key frame. Where that is not enough, or one frame stands for seconds where the part begins or ends, it is encoded all the same.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'video-trimmer',
  name: 'Video Trimmer',
  category: 'video',
  description: 'Cuts a part out of videos, at key frames without any loss or at the very frame.',
  accepts: videoTypes,
  produces: videoTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings,
  check,
  run: (context) =>
    eachVideo(context, async (video, { type: given, stem }, onProgress) => {
      const { settings: chosen, signal, log, output } = context;
      assertStartsWithin(video, chosen.start);
      const type = keptVideoType(given);
      const range = { start: chosen.start, duration: lengthOf(chosen) };
      const framesOf = () => partFrames(video, video.picture, range, isSeekable(video), signal);
      const isEncoded = chosen.precise || !canBeCopied(await framesOf(), chosen.start, type);
      if (isEncoded && !chosen.precise)
        log(`"${video.file.filename}" cannot be cut there without encoding: it is encoded again`);
      await writeVideo({
        video,
        output: { type, path: output(`${stem}.${extensionOf(type)}`) },
        picture: isEncoded ? keptEncoding(type, video.picture) : 'copy',
        sound: isEncoded ? encodedSound(type) : 'copy',
        range,
        signal,
        onProgress,
        log,
      });
    }),
});

function lengthOf({ start, end, duration }: Settings): number | undefined {
  return end === undefined ? duration : end - start;
}

function check({ start, end, duration }: Settings): FieldErrors {
  if (end !== undefined && duration !== undefined) return { duration: ['cannot be given together with end'] };
  if (end !== undefined && end <= start) return { end: ['must be later than start'] };
  if (duration !== undefined && duration <= 0) return { duration: ['must be longer than 0 seconds'] };
  return {};
}
