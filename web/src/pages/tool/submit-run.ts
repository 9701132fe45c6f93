import type { ErrorBody, Submission } from '@millrun/sdk';
import { ApiError, apiPrefix, pageHeader } from '../../api.ts';

/** A submission that can be sent again as it is: with the same key the service takes it once. */
export interface Order {
  key: string;
  slug: string;
  fields: readonly (readonly [name: string, text: string])[];
  files: readonly File[];
  /** The ids of the files in the form, in the same order: errors name files by position. */
  fileIds: readonly string[];
}

export interface UploadProgress {
  sentBytes: number;
  /** Of the whole request: a little more than the files. */
  totalBytes: number;
}

interface Sending {
  signal: AbortSignal;
  onProgress(progress: UploadProgress): void;
}

/** While the service still receives a try whose connection was lost here, it asks to wait; in milliseconds. */
const waitForFirstTryMs = 2000;
const mostWaits = 10;

/**
 * Sends an order. `fetch` tells nothing of an upload that is under way; XMLHttpRequest does.
 *
 * @throws ApiError for a refusal, and with status 0 when the connection was lost: then the run may exist, and sending
 *   the same order again finds it.
 */
export async function submitRun(order: Order, sending: Sending): Promise<Submission> {
  for (let waits = 0; ; waits++) {
    try {
      return await send(order, sending);
    } catch (error) {
      const inUse = error instanceof ApiError && error.code === 'idempotency_key_in_use';
      if (!inUse || waits === mostWaits) throw error;
      await new Promise((resolve) => setTimeout(resolve, waitForFirstTryMs));
      sending.signal.throwIfAborted();
    }
  }
}

async function send({ key, slug, fields, files }: Order, { signal, onProgress }: Sending): Promise<Submission> {
  signal.throwIfAborted();
  const form = new FormData();
  for (const [name, text] of fields) form.append(name, text);
  for (const file of files) form.append('files[]', file, file.name);
  const request = new XMLHttpRequest();
  request.open('POST', `${apiPrefix}/tools/${encodeURIComponent(slug)}`);
  for (const [name, value] of Object.entries(pageHeader)) request.setRequestHeader(name, value);
  request.setRequestHeader('Accept', 'application/json');
  request.setRequestHeader('Idempotency-Key', key);
  request.upload.addEventListener('progress', ({ loaded, total }) =>
    onProgress({ sentBytes: loaded, totalBytes: total }),
  );
  const ended = new Promise<void>((resolve) => request.addEventListener('loadend', () => resolve()));
  const abort = () => request.abort();
  signal.addEventListener('abort', abort);
  request.send(form);
  await ended;
  signal.removeEventListener('abort', abort);
  signal.throwIfAborted();
  return readReply(request);
}

function readReply({ status, responseText }: XMLHttpRequest): Submission {
  const body = parse(responseText);
  if (status === 202 && body !== undefined) return body as unknown as Submission;
  throw new ApiError(status, (body ?? {}) as Partial<ErrorBody>);
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** A key nobody else makes. `crypto.randomUUID` is missing over plain HTTP, where a service at home often lives. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The positions of files that can no longer be read: changed, moved or deleted since they were chosen. */
export async function findUnreadable(files: readonly File[]): Promise<number[]> {
  const readable = await Promise.all(
    files.map((file) =>
      file
        .slice(0, 1)
        .arrayBuffer()
        .then(
          () => true,
          () => false,
        ),
    ),
  );
  return [...files.keys()].filter((index) => readable[index] === false);
}
