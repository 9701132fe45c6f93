import { stat } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import { decodeFile, detectEncoding } from '../lib/text-encoding.ts';

/** The largest text that is read whole, in bytes: far beyond what a person writes. */
export const maxTextBytes = 20_000_000;

/**
 * Reads a text file whole: UTF-8, UTF-16 or windows-1252, without its byte order mark.
 *
 * @throws Failure `resource_limit` above 20 MB.
 */
export async function readTextFile({ path, filename }: { path: string; filename: string }): Promise<string> {
  const { size } = await stat(path);
  if (size > maxTextBytes) {
    throw new Failure('resource_limit', `"${filename}" is larger than the ${maxTextBytes / 1e6} MB this tool takes.`, {
      file: filename,
    });
  }
  let text = '';
  for await (const piece of decodeFile(path, await detectEncoding(path))) text += piece;
  return text;
}
