import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const fileTypeLibrary: Engine = {
  id: 'file-type',
  name: 'file-type',
  license: 'MIT',
  version: () => packageVersion('file-type'),
};

/** What a file's signature says: extension without the dot, and media type. */
export interface FileKind {
  extension: string;
  mediaType: string;
}

/** The kind of a binary file by its first bytes, of several hundred kinds; undefined for text and the unknown. */
export async function detectFileKind(path: string): Promise<FileKind | undefined> {
  const { fileTypeFromFile } = await import('file-type');
  // Hostile bytes can break a parser; that only means that they are not what they pretend to be.
  const found = await fileTypeFromFile(path).catch(() => undefined);
  return found === undefined ? undefined : { extension: found.ext, mediaType: found.mime };
}
