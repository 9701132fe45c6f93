import { writeFile } from 'node:fs/promises';
import { hashAlgorithms, hashFile } from '../../engines/hashing.ts';
import { node } from '../../engines/node.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, list } from '../settings.ts';

export default defineTool({
  slug: 'hash-calculator',
  name: 'Hash Calculator',
  category: 'utility',
  description: 'Computes checksums of files, as one JSON report or as lists that sha256sum and its like can check.',
  accepts: 'any',
  produces: ['json', 'txt'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [node],
  settings: {
    algorithms: list({ of: hashAlgorithms, default: 'sha256', describe: 'One or more, separated by commas.' }),
    format: choice({
      of: ['json', 'sumfile'],
      default: 'json',
      describe: 'json: one report of all files; sumfile: a list for each algorithm.',
    }),
  },
  async run(context) {
    const { inputs, settings, output, signal } = context;
    const { algorithms, format } = settings;
    const onBytes = byteProgress(context);
    const files = [];
    for (const { path, filename, sizeBytes } of inputs) {
      const hashes = await hashFile(path, algorithms, { signal, onBytes });
      files.push({ filename, size_bytes: sizeBytes, ...hashes });
    }
    if (format === 'json') return writeFile(output('hashes.json'), `${JSON.stringify(files, undefined, 2)}\n`);
    for (const algorithm of algorithms) {
      const lines = files.map((file) => sumLine(file[algorithm], file.filename));
      await writeFile(output(`${algorithm}sums.txt`), lines.join(''));
    }
  },
});

/** As GNU coreutils write it: a name with a backslash or a line break is escaped, and the line says so. */
function sumLine(hash: string, filename: string): string {
  const escaped = filename.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
  return `${escaped === filename ? '' : '\\'}${hash}  ${escaped}\n`;
}
