import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { archiveTypes, bsdtar, readArchive, yauzl, type Member } from '../../engines/archive-reading/read-archive.ts';
import { tarStream, zipJs } from '../../engines/archives.ts';
import { matchesGlob } from '../../engines/glob.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, int, text, type Values } from '../settings.ts';
import { archivePassword, readingPrograms, usualLimits } from './reading.ts';

const settings = {
  password: archivePassword,
  include: text({
    max: 200,
    describe: 'Only files that match, such as *.pdf or docs/**; ** goes through directories.',
  }),
  flatten: flag({
    default: false,
    describe: 'Leave the directories out of the names: docs/a.txt becomes a.txt instead of docs_a.txt.',
  }),
  max_files: int({ min: 1, max: 10_000, default: 10_000, describe: 'Refuse an archive with more files.' }),
  max_ratio: int({
    min: 1,
    max: 10_000,
    default: 200,
    describe: 'Refuse an archive that unpacks to more times its size.',
  }),
};

export default defineTool({
  slug: 'archive-extractor',
  name: 'Archive Extractor',
  category: 'archive',
  description:
    'Unpacks archives: ZIP, 7z, RAR, TAR, gzip, bzip2, XZ, Zstandard, ISO and CAB. Symbolic links and empty files are left out.',
  accepts: archiveTypes,
  produces: 'any',
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [yauzl, zipJs, tarStream],
  optionalEngines: [bsdtar, sevenZip],
  enginesFor: (_settings, inputs) => readingPrograms(inputs),
  settings,
  run: (context) => eachInput(context, (input) => extract(input, context)),
});

type Context = ToolContext<Values<typeof settings>>;

async function extract(input: InputFile, { settings: wanted, output, scratch, signal, log }: Context): Promise<void> {
  const { password, include, flatten, max_files, max_ratio } = wanted;
  const limits = { ...usualLimits, maxFiles: max_files, maxRatio: max_ratio };
  const left = { links: 0, others: 0 };
  let extracted = 0;
  await readArchive(input, { password, limits, scratch, signal }, async (member, content) => {
    if (member.kind !== 'file') {
      if (member.kind === 'link') left.links++;
      return;
    }
    if (include !== undefined && !matchesGlob(member.path, include)) {
      left.others++;
      return;
    }
    if (await writeUnlessEmpty(content, () => output(nameOf(member, flatten)))) extracted++;
    else left.others++;
  });
  log(`${extracted} files extracted; ${left.links} links and ${left.others} other files left out`);
  if (extracted > 0) return;
  const reason = include === undefined ? 'holds no files' : `holds no file that matches ${include}`;
  throw new Failure('invalid_input', `"${input.filename}" ${reason}.`, { file: input.filename });
}

/** An output cannot be empty, so a file is only announced with its first byte. */
async function writeUnlessEmpty(content: AsyncIterable<Buffer>, announce: () => string): Promise<boolean> {
  const pieces = content[Symbol.asyncIterator]();
  const first = await pieces.next();
  if (first.done === true) return false;
  const whole = async function* () {
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => pieces };
  };
  await pipeline(whole, createWriteStream(announce()));
  return true;
}

function nameOf({ path }: Member, flatten: boolean): string {
  return flatten ? (path.split('/').at(-1) ?? path) : path.replaceAll('/', '_');
}
