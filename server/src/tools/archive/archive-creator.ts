import { entryNames } from '../../engines/archive-entry.ts';
import { archiveFormats, tarStream, writeArchive, yazl, zipJs } from '../../engines/archives.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, filename, int, text } from '../settings.ts';

export default defineTool({
  slug: 'archive-creator',
  name: 'Archive Creator',
  category: 'archive',
  description: 'Packs files into one archive: ZIP, TAR or 7z, with a password where the format has one.',
  accepts: 'any',
  produces: ['zip', 'tar', 'gz', 'xz', 'zst', '7z'],
  files: { min: 1, max: 500 },
  timeoutSeconds: 900,
  engines: [yazl, zipJs, tarStream],
  optionalEngines: [sevenZip],
  enginesFor: ({ format }) => (format === '7z' || format === 'tar.xz' ? [sevenZip] : []),
  settings: {
    format: choice({ describe: 'The kind of archive.', of: archiveFormats, default: 'zip' }),
    level: int({
      describe: 'From 0 (stored; the fastest for tar.xz and tar.zst) to 9 (smallest, slowest).',
      min: 0,
      max: 9,
      default: 6,
    }),
    password: text({
      describe: 'Encrypts a ZIP (AES-256) or a 7z (AES-256, names too).',
      secret: true,
      max: 127,
      pattern: /^[^\r\n]*$/,
      patternHint: 'must be one line',
    }),
    name: filename({ describe: "The archive's name without its extension.", default: 'archive' }),
  },
  check({ format, password }) {
    if (password === undefined || format === 'zip' || format === '7z') return {};
    return { password: [`has no place in ${format}; choose zip or 7z`] };
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const { format, level, password, name } = settings;
    const names = entryNames(inputs.map((input) => input.filename));
    const entries = inputs.map(({ path, sizeBytes }, index) => ({ name: names[index]!, path, sizeBytes }));
    const onBytes = byteProgress({ inputs, progress });
    const target = output(`${withoutExtension(name, format)}.${format}`);
    await writeArchive(format, target, entries, { level, password, scratch, signal, onBytes, onPercent: progress });
  },
});

/** Somebody who asks for `photos.zip` does not want `photos.zip.zip`. */
function withoutExtension(name: string, format: string): string {
  const extension = `.${format}`;
  const given = name.toLowerCase().endsWith(extension) && name.length > extension.length;
  return given ? name.slice(0, -extension.length) : name;
}
