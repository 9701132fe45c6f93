import type { ErrorBody, Run } from './types.ts';

interface Details {
  status?: number;
  requestId?: string | undefined;
  errors?: Record<string, string[]> | undefined;
  retryAfterS?: number | undefined;
  run?: Run;
  replyLost?: boolean;
  cause?: unknown;
}

/** Codes of the client itself; all others are the service's (`docs/api.md`). */
export type ClientErrorCode =
  /** There was no reply: nobody listens, the name is unknown, or the connection broke. */
  | 'connection_failed'
  /** A reply or the end of a run took longer than it may. */
  | 'timed_out'
  /** What answered does not speak the API. */
  | 'bad_reply'
  /** A file to send is not there, is no file, cannot be read, or changed while it was sent. */
  | 'file_unreadable'
  /** A file could not be written. */
  | 'file_unwritable'
  /** There is a file of this name already. */
  | 'file_exists'
  /** What was downloaded is not what the service has: another size or another SHA-256. */
  | 'download_damaged'
  /** A webhook message that is not signed with this secret, or too old. */
  | 'webhook_refused';

/** Everything that goes wrong with the service, the network or a file. A mistake in a call is a `TypeError`. */
export class MillrunError extends Error {
  override readonly name = 'MillrunError';
  /** HTTP status of the reply; 0 where no reply is to blame. */
  readonly status: number;
  /** For programs: `validation_failed`, `rate_limited`, …; a `ClientErrorCode`; or of a failed run its `error.code`. */
  readonly code: string;
  /** What the service's log calls the request. */
  readonly requestId: string | undefined;
  /** Broken rules by field; a file is `files.0`, `files.1`, …; empty when there are none. */
  readonly errors: Readonly<Record<string, string[]>>;
  /** Seconds after which it may work, where the service says so. */
  readonly retryAfterS: number | undefined;
  /** The run that failed, or the one that is being followed, where there is one. */
  readonly run: Run | undefined;
  /** A reply was lost on the way: what was asked may have been done all the same. */
  readonly replyLost: boolean;

  constructor(code: string, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? 0;
    this.requestId = details.requestId;
    this.errors = details.errors ?? {};
    this.retryAfterS = details.retryAfterS;
    this.run = details.run;
    this.replyLost = details.replyLost ?? false;
  }
}

/** The error of the client itself under one of its codes. */
export function clientError(code: ClientErrorCode, message: string, details: Details = {}): MillrunError {
  return new MillrunError(code, message, details);
}

/** The error that a reply other than 2xx stands for; reads its body. */
export async function errorOfReply(response: Response): Promise<MillrunError> {
  const { status, headers } = response;
  const retryAfterS = readRetryAfter(headers.get('retry-after'));
  const body = readErrorBody(await readText(response));
  if (body === undefined) return new MillrunError('bad_reply', describeForeignReply(response), { status, retryAfterS });
  const requestId = body.request_id ?? headers.get('x-request-id') ?? undefined;
  return new MillrunError(body.code, body.message, { status, requestId, errors: body.errors, retryAfterS });
}

/** An error body is small; what is longer is somebody else's page. */
const longestErrorBody = 1_000_000;

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > longestErrorBody) break;
  }
  return text;
}

type ReadErrorBody = Pick<ErrorBody, 'code' | 'message'> & Partial<ErrorBody>;

function readErrorBody(text: string): ReadErrorBody | undefined {
  try {
    const body = JSON.parse(text) as Partial<ErrorBody> | null;
    if (typeof body?.code !== 'string' || typeof body.message !== 'string') return undefined;
    return body as ReadErrorBody;
  } catch {
    return undefined;
  }
}

function describeForeignReply({ status, statusText, headers, url }: Response): string {
  const location = headers.get('location');
  const origin = URL.parse(url)?.origin ?? 'The server';
  if (status >= 300 && status < 400 && location !== null)
    return `${origin} redirects to ${location}; use the address it leads to.`;
  return `${origin} answered ${[status, statusText].join(' ').trim()}, which does not come from Millrun.`;
}

/** RFC 9110 section 10.2.3: seconds, or a date. */
export function readRetryAfter(header: string | null, nowMs = Date.now()): number | undefined {
  if (header === null) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - nowMs) / 1000));
}
