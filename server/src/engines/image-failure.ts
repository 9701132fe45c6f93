import { articleAndName, type FileTypeId } from '../lib/media-types.ts';
import { Failure } from '../lib/failure.ts';
import { maxPixels } from './sharp.ts';

/** Most frames an animation may have. */
const maxFrames = 500;

/** What a failure says about the file it is about. */
export interface NamedFile {
  filename: string;
  type: FileTypeId;
}

/** @throws Failure `resource_limit` when an image is larger than the service decodes. */
export function assertDecodable(file: NamedFile, size: { width: number; height: number; frames?: number }): void {
  const { width, height, frames = 1 } = size;
  if (!(width > 0 && height > 0)) throw brokenImage(file, `header says ${width} x ${height}`);
  if (frames > maxFrames) {
    throw new Failure('resource_limit', `"${file.filename}" has ${frames} frames; the limit is ${maxFrames}.`, {
      file: file.filename,
    });
  }
  if (width * height * frames > maxPixels) {
    const frameCount = frames > 1 ? ` in ${frames} frames` : '';
    throw tooManyPixels(file, `is ${width} x ${height} pixels${frameCount}`);
  }
}

function tooManyPixels(file: NamedFile, is: string): Failure {
  const limit = maxPixels / 1_000_000;
  return new Failure('resource_limit', `"${file.filename}" ${is}; the limit is ${limit} million pixels.`, {
    file: file.filename,
  });
}

export function brokenImage(file: NamedFile, log: string): Failure {
  return new Failure(
    'invalid_input',
    `"${file.filename}" cannot be read as ${articleAndName(file.type)}: it is damaged or cut short.`,
    { file: file.filename, log },
  );
}

/**
 * What an image library threw, as a failure of the run. libvips reports everything by text alone, and nearly everything
 * it reports while it works through a pipeline is the input's fault; the exceptions are told apart here.
 */
export function imageFailure(thrown: unknown, file: NamedFile): unknown {
  if (thrown instanceof Failure || !(thrown instanceof Error)) return thrown;
  if (thrown.name === 'AbortError' || thrown instanceof TypeError) return thrown;
  const log = thrown.message;
  if (/exceeds pixel limit/i.test(log)) return tooManyPixels(file, 'is too large');
  if (/out of memory|alloc/i.test(log)) {
    return new Failure('resource_limit', `"${file.filename}" needs more memory than a run may use.`, {
      file: file.filename,
      log,
    });
  }
  const [, unknownMethod] = /([A-Z][\w-]*(?: \w+)?) compression support is not configured/.exec(log) ?? [];
  if (unknownMethod !== undefined) {
    const message = `"${file.filename}" is compressed with ${unknownMethod}, which cannot be opened here.`;
    return new Failure('invalid_input', message, { file: file.filename, log });
  }
  // "unsupported image format" is said of whatever has lost its beginning.
  if (/not supported|not implemented|unsupported (?!image format)/i.test(log)) {
    const message = `"${file.filename}" is written in a way that cannot be opened here.`;
    return new Failure('invalid_input', message, { file: file.filename, log });
  }
  if (/bad dimensions/i.test(log)) {
    const message = `"${file.filename}" does not say how large it is, so it cannot be drawn.`;
    return new Failure('invalid_input', message, { file: file.filename, log });
  }
  if (/too large for|dimension|maximum/i.test(log)) {
    return new Failure('invalid_input', `"${file.filename}" is too large for the output format.`, {
      file: file.filename,
      log,
    });
  }
  // "unable to write" alone also follows a failure to read: only the system's own words tell of a full disk.
  if (/no space left|quota exceeded|permission denied|read-only file system|ENOSPC|EDQUOT|EACCES/i.test(log)) {
    return new Failure('engine_failed', `The result of "${file.filename}" could not be written.`, {
      file: file.filename,
      log,
    });
  }
  return brokenImage(file, log);
}
