import {
  entryNames,
  type TarCompression,
  tarStream,
  writeEncryptedZip,
  writeTar,
  writeZip,
  yazl,
  zipJs,
} from '../../engines/archives.ts';
import { sevenZip, writeSevenZip } from '../../engines/seven-zip.ts';
import { defineTool } from '../define.ts';
import { choice, int, text } from '../settings.ts';

const formats = ['zip', 'tar', 'tar.gz', 'tar.xz', 'tar.zst', '7z'] as const;

const tarCompressions = { tar: 'none', 'tar.gz': 'gz', 'tar.xz': 'xz', 'tar.zst': 'zst' } as const satisfies Partial<
  Record<(typeof formats)[number], TarCompression>
>;

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
    format: choice({ describe: 'The kind of archive.', of: formats, default: 'zip' }),
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
    name: text({
      describe: "The archive's name without its extension.",
      default: 'archive',
      max: 100,
      // oxlint-disable-next-line no-control-regex -- control characters are what is refused
      pattern: /^[^/\\\x00-\x1f\x7f.\s-][^/\\\x00-\x1f\x7f]*$/,
      patternHint: 'must be a file name, without a slash and not starting with a dot, a dash or a space',
    }),
  },
  check({ format, password }) {
    if (password === undefined || format === 'zip' || format === '7z') return {};
    return { password: [`has no place in ${format}; choose zip or 7z`] };
  },
  async run({ inputs, settings, output, scratch, signal, progress }) {
    const { format, level, password, name } = settings;
    const names = entryNames(inputs.map(({ filename }) => filename));
    const entries = inputs.map(({ path, sizeBytes }, index) => ({ name: names[index]!, path, sizeBytes }));
    const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    let packed = 0;
    const onBytes = (count: number) => {
      packed += count;
      progress((packed / total) * 100);
    };
    const target = output(`${withoutExtension(name, format)}.${format}`);
    if (format === '7z') {
      await writeSevenZip(target, entries, { level, password, scratch, signal, onPercent: progress });
    } else if (format === 'zip') {
      if (password === undefined) await writeZip(target, entries, { level, signal, onBytes });
      else await writeEncryptedZip(target, entries, { level, password, signal, onBytes });
    } else {
      await writeTar(target, entries, tarCompressions[format], { level, signal, onBytes });
    }
  },
});

/** Somebody who asks for `photos.zip` does not want `photos.zip.zip`. */
function withoutExtension(name: string, format: string): string {
  const extension = `.${format}`;
  const given = name.toLowerCase().endsWith(extension) && name.length > extension.length;
  return given ? name.slice(0, -extension.length) : name;
}
