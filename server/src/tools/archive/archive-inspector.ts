import { writeFile } from 'node:fs/promises';
import { archiveTypes, bsdtar, inspectArchive, yauzl } from '../../engines/archive-reading/read-archive.ts';
import { tarStream } from '../../engines/archives.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import { fileTypes } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { archivePassword, readingPrograms, usualLimits } from './reading.ts';

export default defineTool({
  slug: 'archive-inspector',
  name: 'Archive Inspector',
  category: 'archive',
  description: 'Lists what is in an archive, without unpacking it for you.',
  accepts: archiveTypes,
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [yauzl, tarStream],
  optionalEngines: [bsdtar, sevenZip],
  enginesFor: (_settings, inputs) => readingPrograms(inputs),
  settings: { password: archivePassword },
  run: (context) =>
    eachInput(context, async (input) => {
      const { scratch, signal, settings } = context;
      const limits = { ...usualLimits, maxFiles: 100_000 };
      const members = await inspectArchive(input, { password: settings.password, limits, scratch, signal });
      const files = members.filter(({ kind }) => kind === 'file');
      const unpacked = files.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0);
      const report = {
        filename: input.filename,
        format: fileTypes[input.type].name,
        size_bytes: input.sizeBytes,
        unpacked_bytes: unpacked,
        ratio: Math.round((unpacked / input.sizeBytes) * 100) / 100,
        files: files.length,
        encrypted: files.some(({ encrypted }) => encrypted),
        entries: members,
      };
      await writeFile(context.output(`${input.stem}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
    }),
});
