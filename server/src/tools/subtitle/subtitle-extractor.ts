import { writeFile } from 'node:fs/promises';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { extractSubtitles, isText } from '../../engines/media/extract-subtitles.ts';
import type { Media, MediaStream } from '../../engines/media/probe.ts';
import { writeCues } from '../../engines/subtitles/subtitles.ts';
import { Failure } from '../../lib/failure.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { choice, text } from '../settings.ts';
import { eachMedia } from '../video/each-video.ts';

export default defineTool({
  slug: 'subtitle-extractor',
  name: 'Subtitle Extractor',
  category: 'subtitle',
  description: 'Takes the subtitles out of videos; tracks that are pictures of text are left out.',
  accepts: ['mkv', 'mp4', 'mov', 'webm'],
  produces: ['srt', 'vtt', 'ass'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [ffmpeg],
  settings: {
    track: text({
      default: 'all',
      max: 3,
      pattern: /^(all|\d{1,2})$/,
      patternHint: 'must be all, or a number such as 0',
      describe: 'Which track of subtitles to take, counted from 0, or all of them.',
    }),
    format: choice({ of: ['srt', 'vtt', 'ass'], default: 'srt', describe: 'The format to return.' }),
  },
  run: (context) =>
    eachMedia(context, async (media, { stem }, onProgress) => {
      const { settings, scratch, signal, output, log } = context;
      const { format } = settings;
      const chosen = tracksOf(media, settings.track);
      for (const [done, track] of chosen.entries()) {
        const number = media.subtitles.indexOf(track);
        const extracted = await extractSubtitles(media, track, {
          scratch,
          signal,
          onProgress: (percent) => onProgress((done * 100 + percent) / chosen.length),
        });
        const name = [stem, number, ...languageOf(track)].join('-');
        const isSame = extracted.type === format;
        await writeFile(
          output(`${name}.${extensionOf(format)}`),
          isSame ? extracted.text : await writeCues(extracted.cues, format),
        );
      }
      if (chosen.length < media.subtitles.length && settings.track === 'all')
        log(`${media.subtitles.length - chosen.length} tracks of subtitles are pictures: left out`);
    }),
});

/** @throws Failure `invalid_input` when there is no such track, or none that is text. */
function tracksOf({ file: { filename }, subtitles }: Media, wanted: string): MediaStream[] {
  if (subtitles.length === 0) throw refuse(filename, `"${filename}" has no subtitles.`);
  if (wanted === 'all') {
    const texts = subtitles.filter(isText);
    // The first says what is wrong with all.
    return texts.length === 0 ? subtitles.slice(0, 1) : texts;
  }
  const track = subtitles[Number(wanted)];
  if (track !== undefined) return [track];
  const has = subtitles.length === 1 ? '1 track' : `${subtitles.length} tracks`;
  throw refuse(filename, `"${filename}" has ${has} of subtitles, counted from 0: there is no track ${wanted}.`);
}

function refuse(filename: string, message: string): Failure {
  return new Failure('invalid_input', message, { file: filename });
}

function languageOf({ language }: MediaStream): string[] {
  return language !== undefined && /^[a-z]{2,3}(-[a-z\d]{2,8})*$/i.test(language) ? [language] : [];
}
