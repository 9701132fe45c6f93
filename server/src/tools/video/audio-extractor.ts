import { ffmpeg } from '../../engines/ffmpeg.ts';
import { extractAudio, extractedFormats, originalFormat, trackOf } from '../../engines/media/extract-audio.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import type { AudioStream } from '../../engines/media/probe.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf, type FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFile } from '../define.ts';
import { choice, int } from '../settings.ts';
import { eachMedia } from './each-video.ts';

export default defineTool({
  slug: 'audio-extractor',
  name: 'Audio Extractor',
  category: 'video',
  description: 'Takes the sound out of videos.',
  accepts: videoTypes,
  produces: [...extractedFormats, 'ac3', 'wma', 'amr'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    format: choice({
      of: [...extractedFormats, 'original'],
      default: 'mp3',
      describe: 'The format to return; original moves the sound as it is into the format that belongs to it.',
    }),
    bitrate_kbps: int({
      min: 32,
      max: 320,
      default: 192,
      describe: 'Kilobits a second of MP3, M4A, OGG and Opus; WAV and FLAC keep everything.',
    }),
    track: int({ min: 0, max: 63, default: 0, describe: 'Which track of sound to take, counted from 0.' }),
  },
  run: (context) =>
    eachMedia(context, async (media, input, onProgress) => {
      const { format, bitrate_kbps, track: number } = context.settings;
      const track = trackOf(media, number);
      const type = format === 'original' ? originalOf(track, input) : format;
      await extractAudio({
        media,
        track,
        output: { type, path: context.output(`${input.stem}.${extensionOf(type)}`) },
        encoding: format === 'original' ? 'copy' : { bitRate: bitrate_kbps * 1000 },
        signal: context.signal,
        onProgress,
      });
    }),
});

function originalOf(track: AudioStream, { filename }: InputFile): FileTypeId {
  const type = originalFormat(track);
  if (type !== undefined) return type;
  const message = `The sound of "${filename}" is ${track.codec}, which has no file format of its own here: choose a format.`;
  throw new Failure('invalid_input', message, { file: filename });
}
