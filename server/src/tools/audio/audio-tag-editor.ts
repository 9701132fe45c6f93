import { ffmpeg } from '../../engines/ffmpeg.ts';
import type { WrittenAudioType } from '../../engines/media/audio-formats.ts';
import { writeTags } from '../../engines/media/tag-audio.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf, type FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFacts } from '../define.ts';
import { flag, text, type Values } from '../settings.ts';
import { eachSound } from './each-sound.ts';

const taggedTypes = ['mp3', 'm4a', 'flac', 'ogg', 'opus'] as const satisfies readonly WrittenAudioType[];
const coverTypes = ['jpeg', 'png'] as const satisfies readonly FileTypeId[];

const settings = {
  title: text({ describe: 'Name of the piece.' }),
  artist: text({ describe: 'Who plays or speaks.' }),
  album: text({ describe: 'What the piece is part of.' }),
  album_artist: text({ describe: 'Whose album it is.' }),
  year: text({
    max: 10,
    pattern: /^\d{4}(-\d\d(-\d\d)?)?$/,
    patternHint: 'must be a year such as 2026, or a date such as 2026-11-21',
    describe: 'Year or date it came out.',
  }),
  genre: text({ describe: 'Kind of music, or Podcast, Audiobook, ….' }),
  track: text({
    max: 11,
    pattern: /^\d{1,5}(\/\d{1,5})?$/,
    patternHint: 'must be a number such as 3, or 3/12',
    describe: 'Number on the album, with or without how many there are: 3, or 3/12.',
  }),
  comment: text({ max: 5000, describe: 'Anything else.' }),
  clear: flag({ default: false, describe: 'Remove all tags and the cover that are there before.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'audio-tag-editor',
  name: 'Audio Tag Editor',
  category: 'audio',
  description: 'Changes title, artist and other tags of sound, and the cover when the last file is an image.',
  accepts: [...taggedTypes, ...coverTypes],
  produces: taggedTypes,
  files: { min: 1, max: 51 },
  timeoutSeconds: 600,
  engines: [ffmpeg],
  settings,
  check,
  run(context) {
    const { inputs, settings: chosen, scratch, signal, output } = context;
    const { clear } = chosen;
    const cover = inputs.find(isCover);
    const tags = tagsOf(chosen);
    return eachSound(
      context,
      async (sound, { stem }, onProgress) => {
        const type = sound.file.type as (typeof taggedTypes)[number];
        const path = output(`${stem}.${extensionOf(type)}`);
        await writeTags({ sound, output: { type, path }, tags, cover, clear, scratch, signal, onProgress });
      },
      inputs.filter((input) => !isCover(input)),
    );
  },
});

function isCover({ type }: InputFacts): boolean {
  return type === 'jpeg' || type === 'png';
}

/** What was sent, by the names FFmpeg has for tags. */
function tagsOf({ title, artist, album, album_artist, year, genre, track, comment }: Settings): Record<string, string> {
  const sent = Object.entries({ title, artist, album, album_artist, date: year, genre, track, comment }).filter(
    (tag): tag is [string, string] => tag[1] !== undefined,
  );
  return Object.fromEntries(sent);
}

function check(chosen: Settings, inputs: readonly InputFacts[]): FieldErrors {
  const last = inputs.length - 1;
  const wrong = inputs.findIndex((input, index) => isCover(input) && index < last);
  if (wrong !== -1) return { [`files.${wrong}`]: ['is an image, which can only be the cover, as the last file'] };
  const hasCover = inputs.some(isCover);
  if (hasCover && inputs.length === 1) return { 'files.0': ['is the cover: send sound before it'] };
  const changesNothing = !chosen.clear && !hasCover && Object.keys(tagsOf(chosen)).length === 0;
  return changesNothing ? { title: ['or another tag is required, unless a cover is sent or clear is set'] } : {};
}
