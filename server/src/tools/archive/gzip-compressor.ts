import { compressFile } from '../../engines/archives.ts';
import { node } from '../../engines/node.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, int } from '../settings.ts';

/** The highest level of each format. */
const highest = { gz: 9, zst: 19, xz: 9, br: 11 } as const;

export default defineTool({
  slug: 'gzip-compressor',
  name: 'Gzip Compressor',
  category: 'archive',
  description: 'Compresses single files for the web or for storage: gzip, Zstandard, XZ or Brotli.',
  accepts: 'any',
  produces: ['gz', 'zst', 'xz', 'br'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 1800,
  engines: [node],
  optionalEngines: [sevenZip],
  enginesFor: ({ format }) => (format === 'xz' ? [sevenZip] : []),
  settings: {
    format: choice({ of: ['gz', 'zst', 'xz', 'br'], default: 'gz', describe: 'The kind of compression.' }),
    level: int({
      min: 1,
      max: 19,
      default: 6,
      describe: 'From 1 (fast) to 9 (gz, xz), 11 (br) or 19 (zst): smaller and slower.',
    }),
  },
  check({ format, level }) {
    return level > highest[format] ? { level: [`goes to ${highest[format]} with ${format}`] } : {};
  },
  async run(context) {
    const { format, level } = context.settings;
    const onBytes = byteProgress(context);
    for (const { path, filename } of context.inputs) {
      await compressFile(path, context.output(`${filename}.${format}`), format, {
        level,
        signal: context.signal,
        onBytes,
      });
    }
  },
});
