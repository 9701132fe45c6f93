import { ffmpeg } from '../../engines/ffmpeg.ts';
import { animationFormats, writeAnimation } from '../../engines/media/animation.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { fitSize, shownSize } from '../../engines/media/picture.ts';
import { defineTool } from '../define.ts';
import { choice, int, num, time } from '../settings.ts';
import { eachVideo } from './each-video.ts';
import { assertStartsWithin } from './time-range.ts';

export default defineTool({
  slug: 'video-to-gif-converter',
  name: 'Video to GIF Converter',
  category: 'video',
  description: 'Makes an animated GIF or WebP of a part of a video.',
  accepts: videoTypes,
  produces: animationFormats,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    start: time({ default: '0', describe: 'Where the animation begins: seconds, or a time such as 00:01:30.250.' }),
    duration: num({ min: 0.1, max: 60, default: 5, describe: 'Seconds of the video to take.' }),
    fps: int({ min: 1, max: 30, default: 12, describe: 'Frames a second.' }),
    width: int({ min: 64, max: 1280, default: 480, describe: 'Pixels; narrower videos keep their width.' }),
    loop: int({ min: 0, max: 1000, default: 0, describe: 'How often it plays; 0 is for ever.' }),
    format: choice({
      of: animationFormats,
      default: 'gif',
      describe: 'GIF shows everywhere; WebP is smaller and has more colours.',
    }),
  },
  run: (context) =>
    eachVideo(context, async (video, { stem }, onProgress) => {
      const { start, duration, fps, width, loop, format } = context.settings;
      assertStartsWithin(video, start);
      const shown = shownSize(video.picture);
      await writeAnimation({
        video,
        path: context.output(`${stem}.${format}`),
        format,
        range: { start, duration: Math.min(duration, video.durationSeconds - start) },
        fps,
        size: fitSize(shown, Math.min(width, shown.width), undefined),
        loop,
        signal: context.signal,
        onProgress,
      });
    }),
});
