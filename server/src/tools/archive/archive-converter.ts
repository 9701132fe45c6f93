import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { archiveTypes, bsdtar, readArchive, yauzl } from '../../engines/archive-reading/read-archive.ts';
import type { ArchiveEntry } from '../../engines/archive-entry.ts';
import { archiveFormats, tarStream, writeArchive, zipJs } from '../../engines/archives.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int, text, type Values } from '../settings.ts';
import { archivePassword, readingPrograms, usualLimits } from './reading.ts';

const settings = {
  format: choice({ of: archiveFormats, required: true, describe: 'The kind of archive to return.' }),
  level: int({ min: 0, max: 9, default: 6, describe: 'From 0 (stored) to 9 (smallest, slowest).' }),
  password: archivePassword,
  new_password: text({
    max: 127,
    secret: true,
    pattern: /^[^\r\n]*$/,
    patternHint: 'must be one line',
    describe: 'Encrypts the new archive (ZIP and 7z, AES-256).',
  }),
};

export default defineTool({
  slug: 'archive-converter',
  name: 'Archive Converter',
  category: 'archive',
  description: 'Turns an archive into one of another kind, with its directories and times.',
  accepts: archiveTypes,
  produces: ['zip', 'tar', 'gz', 'xz', 'zst', '7z'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [yauzl, zipJs, tarStream],
  optionalEngines: [bsdtar, sevenZip],
  enginesFor: ({ format }, inputs) => [
    ...readingPrograms(inputs),
    ...(format === '7z' || format === 'tar.xz' ? [sevenZip] : []),
  ],
  settings,
  check({ format, new_password }) {
    if (new_password === undefined || format === 'zip' || format === '7z') return {};
    return { new_password: [`has no place in ${format}; choose zip or 7z`] };
  },
  run: (context) => eachInput(context, (input) => convert(input, context)),
});

type Context = ToolContext<Values<typeof settings>>;

async function convert(input: InputFile, context: Context): Promise<void> {
  const { format, level, new_password } = context.settings;
  const directory = join(context.scratch, 'members');
  await mkdir(directory, { mode: 0o700 });
  try {
    const entries = await unpack(input, directory, context);
    const target = context.output(`${stemOf(input)}.${format}`);
    await writeArchive(format, target, entries, {
      level,
      password: new_password,
      scratch: context.scratch,
      signal: context.signal,
      onBytes: () => undefined,
      onPercent: () => undefined,
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function unpack(input: InputFile, directory: string, context: Context): Promise<ArchiveEntry[]> {
  const { scratch, signal, settings: wanted } = context;
  // By name: of two members with one name the later one counts, as when a TAR is unpacked.
  const entries = new Map<string, ArchiveEntry>();
  let written = 0;
  await readArchive(
    input,
    { password: wanted.password, limits: usualLimits, scratch, signal },
    async (member, content) => {
      const { path: name, kind, modified, mode } = member;
      if (kind === 'link') throw holdsLinks(input);
      const path = join(directory, String((written += 1)));
      if (kind === 'file') await pipeline(content, createWriteStream(path));
      const sizeBytes = kind === 'file' ? (await stat(path)).size : 0;
      entries.set(name, { name, path, sizeBytes, isDirectory: kind === 'directory', modified, mode });
    },
  );
  const all = [...entries.values()];
  if (all.some(({ isDirectory }) => isDirectory !== true)) return all;
  throw new Failure('invalid_input', `"${input.filename}" holds no files.`, { file: input.filename });
}

/** Without them something would be missing, and a link that leads outside must not be passed on. */
function holdsLinks({ filename }: InputFile): Failure {
  const message = `"${filename}" holds links, which cannot be carried over; archive-extractor leaves them out.`;
  return new Failure('invalid_input', message, { file: filename });
}

/** `backup.tgz` and `backup.tar.gz` become `backup.zip`. */
function stemOf({ stem }: InputFile): string {
  return stem.replace(/(?<=.)\.tar$/i, '');
}
