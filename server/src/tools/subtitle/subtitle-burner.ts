import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { videoTypes } from '../../engines/media/media-types.ts';
import { evenSize, shownSize } from '../../engines/media/picture.ts';
import { type Video, playableEncoding, soundFor, writeVideo } from '../../engines/media/write-video.ts';
import { type AssStyle, writeAss } from '../../engines/subtitles/ass.ts';
import { type Cue, subtitleTypes, usualPlace } from '../../engines/subtitles/cue.ts';
import { fastXmlParser, readCues, readSubtitleText } from '../../engines/subtitles/subtitles.ts';
import { iconv } from '../../engines/text-encodings.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFacts, type InputFile } from '../define.ts';
import { choice, color, int, type Values } from '../settings.ts';
import { eachVideo } from '../video/each-video.ts';
import { encoding } from './encoding.ts';

const settings = {
  font_size: int({
    min: 8,
    max: 96,
    default: 24,
    describe: 'Height of the letters on a picture of 480 lines; on others they grow and shrink with it.',
  }),
  font_color: color({ default: '#ffffff', describe: 'Colour of the letters.' }),
  border: choice({
    of: ['outline', 'box', 'none'],
    default: 'outline',
    describe: 'What sets the letters off: a black edge, a dark box behind them, or nothing.',
  }),
  position: choice({ of: ['bottom', 'top'], default: 'bottom', describe: 'Where subtitles go that say no place.' }),
  encoding,
};
type Settings = Values<typeof settings>;

/** Lines of the picture that sizes are given for. */
const lines = 480;

export default defineTool({
  slug: 'subtitle-burner',
  name: 'Subtitle Burner',
  category: 'subtitle',
  description:
    'Draws subtitles onto the picture of a video, so that every player shows them. ASS subtitles keep their own look.',
  accepts: [...videoTypes, ...subtitleTypes],
  produces: ['mp4'],
  files: { min: 2, max: 2 },
  timeoutSeconds: 3600,
  engines: [ffmpeg, fastXmlParser, iconv],
  settings,
  check: (_, inputs) => checkFiles(inputs),
  run: (context) => {
    const { inputs, settings: chosen, scratch, signal, log, output } = context;
    const subtitles = inputs.find(isSubtitle) as InputFile;
    return eachVideo(
      context,
      async (video, { stem }, onProgress) => {
        const path = output(`${stem}.mp4`);
        await writeFile(join(scratch, 'subtitles.ass'), await assFor(video, subtitles, chosen));
        await writeVideo({
          video,
          output: { type: 'mp4', path },
          // A plain name in the working directory: nothing in it needs to be escaped.
          picture: { ...playableEncoding('mp4', video.picture), overlays: ['ass=subtitles.ass'] },
          cwd: scratch,
          sound: soundFor('mp4'),
          subtitles: false,
          signal,
          onProgress,
          log,
        });
      },
      inputs.filter((input) => !isSubtitle(input)),
    );
  },
});

function isSubtitle({ type }: InputFacts): boolean {
  return (subtitleTypes as readonly FileTypeId[]).includes(type);
}

function checkFiles(inputs: readonly InputFacts[]): FieldErrors {
  const count = inputs.filter(isSubtitle).length;
  if (count === 0) return { 'files.1': ['must be subtitles when the other file is a video'] };
  return count === 2 ? { 'files.1': ['must be a video when the other file is subtitles'] } : {};
}

/** @throws Failure `invalid_input` when nothing would be seen. */
async function assFor(video: Video, file: InputFile, chosen: Settings): Promise<string> {
  const text = await readSubtitleText(file, chosen.encoding);
  const cues = await readCues(text, file, file.type === 'sub' ? video.picture.fps : undefined);
  if (cues.every(({ start }) => start >= video.durationSeconds * 1000)) {
    const message = `"${file.filename}" begins when "${video.file.filename}" has ended: nothing would be seen.`;
    throw new Failure('invalid_input', message, { file: file.filename });
  }
  if (file.type === 'ass') return text;
  const { width, height } = evenSize(shownSize(video.picture));
  const style: AssStyle = {
    fontSize: chosen.font_size,
    color: sixDigits(chosen.font_color),
    border: chosen.border,
    resolution: { width: Math.round((lines * width) / height), height: lines },
  };
  return writeAss(chosen.position === 'top' ? cues.map(toTop) : cues, style);
}

function toTop(cue: Cue): Cue {
  return cue.place === usualPlace ? { ...cue, place: 8 } : cue;
}

/** `#rgb` and `#rrggbbaa` as `#rrggbb`: letters are never seen through. */
function sixDigits(given: string): string {
  return given.length === 4 ? given.replaceAll(/[\da-f]/gi, '$&$&') : given.slice(0, 7);
}
