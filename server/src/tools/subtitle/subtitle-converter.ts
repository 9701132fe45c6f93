import { writeFile } from 'node:fs/promises';
import { subtitleTypes } from '../../engines/subtitles/cue.ts';
import {
  fastXmlParser,
  readCues,
  readSubtitleText,
  writeCues,
  writtenSubtitles,
} from '../../engines/subtitles/subtitles.ts';
import { iconv } from '../../engines/text-encodings.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool, type InputFacts } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, num, type Values } from '../settings.ts';
import { encoding } from './encoding.ts';

const settings = {
  format: choice({
    of: writtenSubtitles,
    default: 'srt',
    describe: 'The format to return, in UTF-8; txt is the text without times.',
  }),
  encoding,
  fps: num({
    min: 1,
    max: 240,
    describe: 'Frames a second of the film MicroDVD subtitles belong to; what the file says or 23.976 unless told.',
  }),
};

export default defineTool({
  slug: 'subtitle-converter',
  name: 'Subtitle Converter',
  category: 'subtitle',
  description: 'Converts subtitles; italics, bold, colours and places stay where the format has them.',
  accepts: subtitleTypes,
  produces: writtenSubtitles,
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [fastXmlParser, iconv],
  settings,
  check,
  run: (context) =>
    eachInput(context, async (input) => {
      const { format, encoding: told, fps } = context.settings;
      const text = await readSubtitleText(input, told);
      const cues = await readCues(text, input, fps);
      // The styles of SubStation Alpha are more than cues can hold.
      const isKept = format === 'ass' && input.type === 'ass';
      await writeFile(
        context.output(`${input.stem}.${extensionOf(format)}`),
        isKept ? text : await writeCues(cues, format),
      );
    }),
});

function check({ fps }: Values<typeof settings>, inputs: readonly InputFacts[]): FieldErrors {
  if (fps === undefined || inputs.some(({ type }) => type === 'sub')) return {};
  return { fps: ['has no effect without a MicroDVD file (.sub)'] };
}
