import { readFile, writeFile } from 'node:fs/promises';
import { linesOf } from '../../engines/subtitles/cue.ts';
import { shiftAss, shiftTimings, type Shift } from '../../engines/subtitles/shift.ts';
import { assertTimings } from '../../engines/subtitles/srt.ts';
import { assertSmall } from '../../engines/subtitles/subtitles.ts';
import { Failure } from '../../lib/failure.ts';
import { fileTypes } from '../../lib/media-types.ts';
import { detectEncoding } from '../../lib/text-encoding.ts';
import { defineTool, type InputFile } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { int, num, time, type Values } from '../settings.ts';

const day = 24 * 3600 * 1000;

const settings = {
  offset_ms: int({
    min: -day,
    max: day,
    required: true,
    describe: 'Milliseconds by which subtitles appear later; below 0 they appear earlier.',
  }),
  scale: num({
    min: 0.1,
    max: 10,
    default: 1,
    describe: 'Multiply times with this before moving them: 0.959041 makes 25 frames a second of 23.976.',
  }),
  from: time({ default: '0', describe: 'Move only subtitles that begin at this time or later.' }),
};

export default defineTool({
  slug: 'subtitle-shifter',
  name: 'Subtitle Shifter',
  category: 'subtitle',
  description: 'Moves subtitles in time. What would end before the beginning is left out, all else stays as it is.',
  accepts: ['srt', 'vtt', 'ass'],
  produces: ['srt', 'vtt', 'ass'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 60,
  engines: [],
  settings,
  run: (context) =>
    eachInput(context, async (input) => {
      await writeFile(context.output(input.filename), await shifted(input, context.settings, context.log));
    }),
});

async function shifted(
  input: InputFile,
  { offset_ms, scale, from }: Values<typeof settings>,
  log: (message: string) => void,
): Promise<Buffer> {
  const { path, type, filename } = input;
  await assertSmall(input);
  const bytes = await readFile(path);
  const found = await detectEncoding(path);
  // Times are ASCII in every other encoding: bytes are read and written as they are.
  const wide = found === 'utf-16le' || found === 'utf-16be';
  const text = wide ? (found === 'utf-16le' ? bytes : swapped(bytes)).toString('utf16le') : bytes.toString('latin1');
  if (type !== 'ass') assertTimings(linesOf(text), filename);
  const shift: Shift = { offset: offset_ms, scale, from: from * 1000 };
  const result = type === 'ass' ? shiftAss(text, shift) : shiftTimings(text, type === 'vtt' ? 'vtt' : 'srt', shift);
  if (result.dropped > 0) log(`${result.dropped} subtitles would have ended before the beginning: left out`);
  if (result.kept + result.dropped === 0)
    throw refuse(filename, `has nothing that can be read as ${fileTypes[type].name}`);
  if (result.kept === 0) throw refuse(filename, 'would have no subtitles left: all would end before the beginning');
  if (!wide) return Buffer.from(result.text, 'latin1');
  const written = Buffer.from(result.text, 'utf16le');
  return found === 'utf-16le' ? written : swapped(written);
}

/** UTF-16 in the other order of bytes. */
function swapped(bytes: Buffer): Buffer {
  return Buffer.from(bytes.subarray(0, bytes.length & ~1)).swap16();
}

function refuse(filename: string, problem: string): Failure {
  return new Failure('invalid_input', `"${filename}" ${problem}.`, { file: filename });
}
