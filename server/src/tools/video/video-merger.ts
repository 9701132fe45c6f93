import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { mergeVideos } from '../../engines/media/merge-videos.ts';
import { fitSize, shownSize, evenSize } from '../../engines/media/picture.ts';
import { probe } from '../../engines/media/probe.ts';
import { containers } from '../../engines/media/video-formats.ts';
import { type Video, assertVideo } from '../../engines/media/write-video.ts';
import { defineTool } from '../define.ts';
import { choice, int, num } from '../settings.ts';
import { part } from './each-video.ts';

export default defineTool({
  slug: 'video-merger',
  name: 'Video Merger',
  category: 'video',
  description:
    'Joins videos into one, in the order they are sent. They may differ in format, size, frame rate and sound.',
  accepts: videoTypes,
  produces: ['mp4', 'webm', 'mkv'],
  files: { min: 2, max: 100 },
  timeoutSeconds: 3600,
  engines: [ffmpeg],
  settings: {
    format: choice({ of: ['mp4', 'webm', 'mkv'], default: 'mp4', describe: 'The format to return.' }),
    transition: choice({ of: ['none', 'crossfade'], default: 'none', describe: 'How one video becomes the next.' }),
    transition_s: num({
      min: 0.1,
      max: 10,
      default: 1,
      describe: 'Seconds of a crossfade, in which both videos play.',
    }),
    width: int({
      min: 16,
      max: 8192,
      describe: 'Pixels; those of the first video unless told. Others get black borders.',
    }),
    height: int({ min: 16, max: 8192, describe: 'Pixels; those of the first video unless told.' }),
    fps: int({ min: 1, max: 120, describe: 'Frames a second; the highest of the videos, up to 60, unless told.' }),
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const { format, transition, transition_s, width, height, fps } = settings;
    const videos: Video[] = [];
    for (const [index, input] of inputs.entries()) {
      videos.push(assertVideo(await probe(input, signal)));
      progress(((index + 1) / inputs.length) * 5);
    }
    const shown = videos[0] === undefined ? { width: 2, height: 2 } : shownSize(videos[0].picture);
    const isBox = width !== undefined && height !== undefined;
    await mergeVideos({
      videos,
      size: isBox ? evenSize({ width, height }) : fitSize(shown, width, height),
      fps: fps ?? Math.min(60, Math.max(...videos.map(({ picture }) => picture.fps ?? 25))),
      crossfade: transition === 'crossfade' ? transition_s : 0,
      encoding: { codec: containers[format].video, rate: { crf: 20 }, preset: 'medium' },
      output: { type: format, path: output(`${inputs[0]?.stem}-merged.${format}`) },
      scratch,
      signal,
      onProgress: part(progress, 5, 100),
    });
  },
});
