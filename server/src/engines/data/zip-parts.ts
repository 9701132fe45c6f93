import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { type DataSource, invalid, tooLarge } from './source.ts';

export const yauzlEngine: Engine = {
  id: 'yauzl',
  name: 'yauzl',
  license: 'MIT',
  version: () => packageVersion('yauzl'),
};

const maxEntries = 10_000;

/** The files inside an Office document. Close it. */
export interface ZipParts {
  names: readonly string[];
  /** The text of a part piece by piece; undefined when there is none of this name. */
  text(name: string): AsyncGenerator<string> | undefined;
  close(): void;
}

/**
 * Opens a ZIP file whose parts together unpack to at most `maxBytes`. What the directory claims is checked again while a
 * part is unpacked.
 *
 * @throws Failure `invalid_input` for a broken file, `resource_limit` for a bomb.
 */
export async function openZipParts(source: DataSource, maxBytes: number): Promise<ZipParts> {
  const { openPromise } = await import('yauzl');
  const broken = (error: unknown) => invalid(source, 'is damaged: it cannot be unpacked.', error);
  let zip: ZipFile;
  try {
    zip = await openPromise(source.path, { autoClose: false, strictFileNames: false, validateEntrySizes: true });
  } catch (error) {
    throw broken(error);
  }
  const entries = new Map<string, Entry>();
  try {
    let total = 0;
    for await (const entry of zip.eachEntry()) {
      total += entry.uncompressedSize;
      if (total > maxBytes || entries.size > maxEntries) {
        throw tooLarge(source, `unpacks to more than the ${Math.floor(maxBytes / 1024 / 1024)} MB that can be read.`);
      }
      entries.set(entry.fileName.replaceAll('\\', '/').replace(/^\//, '').toLowerCase(), entry);
    }
  } catch (error) {
    zip.close();
    if (error instanceof Error && error.name === 'Failure') throw error;
    throw broken(error);
  }
  async function* unpack(entry: Entry): AsyncGenerator<string> {
    const decoder = new TextDecoder('utf-8');
    try {
      const stream: Readable = await zip.openReadStreamPromise(entry);
      for await (const chunk of stream) {
        source.signal.throwIfAborted();
        yield decoder.decode(chunk as Buffer, { stream: true });
      }
      yield decoder.decode();
    } catch (error) {
      source.signal.throwIfAborted();
      throw broken(error);
    }
  }
  return {
    names: [...entries.keys()],
    text(name) {
      const entry = entries.get(name.toLowerCase());
      return entry === undefined ? undefined : unpack(entry);
    },
    close: () => zip.close(),
  };
}
