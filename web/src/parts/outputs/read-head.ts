import { ApiError, localPath } from '../../api.ts';

/** How much of a text or table is looked at. */
export const headBytes = 262_144;

export interface TextHead {
  text: string;
  /** `text` is the whole file. */
  complete: boolean;
}

/**
 * The beginning of an output as text, asked for by range so that no more than that is sent.
 *
 * @throws ApiError with a sentence for a person.
 */
export async function readTextHead(url: string, sizeBytes: number, signal: AbortSignal): Promise<TextHead> {
  const bytes = await readBytes(url, headBytes, signal);
  const complete = sizeBytes <= headBytes;
  // A cut may go through a character: what follows it is not there to complete it.
  const text = new TextDecoder(encodingOf(bytes)).decode(bytes, { stream: !complete });
  return { text, complete };
}

/** The first bytes of an output, all of them where there are fewer. */
export async function readBytes(url: string, most: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(localPath(url), { headers: { Range: `bytes=0-${most - 1}` }, signal });
  if (!response.ok) throw new ApiError(response.status, { message: sayRefusal(response.status) });
  const bytes = new Uint8Array(await response.arrayBuffer());
  return bytes.length > most ? bytes.slice(0, most) : bytes;
}

function sayRefusal(status: number): string {
  if (status === 410) return 'The download address has expired, or the file is no longer kept. Load the page again.';
  if (status === 404) return 'The file is no longer there.';
  return 'The file could not be read for a preview.';
}

/** By its byte order mark; text without one is UTF-8, which is what the tools write. */
function encodingOf([first, second]: Uint8Array): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}
