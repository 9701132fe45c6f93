import { join } from 'node:path';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { writeContactSheet } from '../../engines/media/contact-sheet.ts';
import { frameFormats, writeFrame } from '../../engines/media/frames.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { fitSize, shownSize } from '../../engines/media/picture.ts';
import type { Video } from '../../engines/media/write-video.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, flag, int, type Values } from '../settings.ts';
import { eachVideo } from './each-video.ts';
import { assertStartsWithin, moments, pictureEnd } from './time-range.ts';

const settings = {
  count: int({ min: 1, max: 999, default: 8, describe: 'How many thumbnails, spread evenly over the video.' }),
  offsets: moments('Where to take them instead of count: a list of seconds, such as [1, 2.5, 60].'),
  width: int({ min: 16, max: 4096, describe: 'Pixels; with height as well the picture is fitted into both.' }),
  height: int({ min: 16, max: 4096, describe: 'Pixels; the sides keep their ratio.' }),
  format: choice({ of: frameFormats, default: 'jpeg', describe: 'The format to return.' }),
  contact_sheet: flag({ default: false, describe: 'Return one picture with all thumbnails in rows.' }),
};
type Settings = Values<typeof settings>;

/** Width of a thumbnail on a sheet where nothing is asked for, in pixels. */
const sheetWidth = 320;

export default defineTool({
  slug: 'video-thumbnailer',
  name: 'Video Thumbnailer',
  category: 'video',
  description: 'Takes pictures out of videos: spread evenly, at given times, or all on one sheet.',
  accepts: videoTypes,
  produces: frameFormats,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg, sharpEngine],
  settings,
  run: (context) =>
    eachVideo(context, async (video, { stem }, onProgress) => {
      const { settings: chosen, scratch, signal, output } = context;
      const { format, contact_sheet, width, height } = chosen;
      const shown = shownSize(video.picture);
      const usual =
        contact_sheet && width === undefined && height === undefined ? Math.min(sheetWidth, shown.width) : width;
      const size = fitSize(shown, usual, height);
      const offsets = offsetsFor(video, chosen);
      const extension = extensionOf(format);
      const frames: string[] = [];
      for (const [index, seconds] of offsets.entries()) {
        signal.throwIfAborted();
        const number = String(index + 1).padStart(String(offsets.length).length, '0');
        const path = contact_sheet
          ? join(scratch, `thumbnail-${index}.${extension}`)
          : output(`${stem}-${number}.${extension}`);
        await writeFrame({ video, format, size, signal }, seconds, path);
        frames.push(path);
        onProgress(((index + 1) / offsets.length) * 95);
      }
      if (contact_sheet) await writeContactSheet(frames, size, output(`${stem}.${extension}`), format);
    }),
});

function offsetsFor(video: Video, { count, offsets }: Settings): readonly number[] {
  for (const seconds of offsets ?? []) assertStartsWithin(video, seconds);
  const { startSeconds } = video.picture;
  const length = pictureEnd(video) - startSeconds;
  return offsets ?? Array.from({ length: count }, (_, index) => startSeconds + (length * (index + 0.5)) / count);
}
