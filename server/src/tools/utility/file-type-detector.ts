import { writeFile } from 'node:fs/promises';
import { detectFileKind, fileTypeLibrary } from '../../engines/file-kind.ts';
import { fileTypes } from '../../lib/media-types.ts';
import { detectEncoding, isTextFile } from '../../lib/text-encoding.ts';
import { defineTool, type InputFile } from '../define.ts';

export default defineTool({
  slug: 'file-type-detector',
  name: 'File Type Detector',
  category: 'utility',
  description: 'Tells by their content what files really are, whatever their names say.',
  accepts: 'any',
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [fileTypeLibrary],
  settings: {},
  async run({ inputs, output }) {
    const reports = [];
    for (const input of inputs) reports.push(await describe(input));
    await writeFile(output('file-types.json'), `${JSON.stringify(reports, undefined, 2)}\n`);
  },
});

async function describe({ path, filename, type, sizeBytes }: InputFile) {
  const { mediaType, extensions, name } = await kindOf(path, type);
  const extension = /\.([^.]+)$/.exec(filename)?.[1]?.toLowerCase();
  return {
    filename,
    size_bytes: sizeBytes,
    media_type: mediaType,
    description: name,
    extensions,
    extension_matches: extension !== undefined && extensions.includes(extension),
    ...((await isTextFile(path)) ? { encoding: await detectEncoding(path) } : {}),
  };
}

/** The service's own judgement; for what it has no name for, that of a library that knows a few hundred kinds more. */
async function kindOf(path: string, type: InputFile['type']) {
  const { mediaType, extensions, name } = fileTypes[type];
  const known = { mediaType, extensions: [...extensions] as string[], name };
  if (type !== 'binary') return known;
  const kind = await detectFileKind(path);
  if (kind === undefined) return known;
  return { mediaType: kind.mediaType, extensions: [kind.extension], name: `${kind.extension.toUpperCase()} file` };
}
