import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { keptVideoType } from '../../engines/media/video-formats.ts';
import { writeVideo } from '../../engines/media/write-video.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachVideo } from './each-video.ts';

export default defineTool({
  slug: 'video-muter',
  name: 'Video Muter',
  category: 'video',
  description: 'Removes the sound of videos without touching the picture.',
  accepts: videoTypes,
  produces: videoTypes,
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {},
  run: (context) =>
    eachVideo(context, async (video, { type, stem }, onProgress) => {
      const { signal, log, output } = context;
      const kept = keptVideoType(type);
      const path = output(`${stem}.${extensionOf(kept)}`);
      await writeVideo({
        video,
        output: { type: kept, path },
        picture: 'copy',
        sound: 'none',
        signal,
        onProgress,
        log,
      });
    }),
});
