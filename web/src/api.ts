import type { ErrorBody } from '@millrun/sdk';

/** An error reply of the service, or a request that got none (`status` 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly body: Partial<ErrorBody>;

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.message ?? 'The server could not be reached. Check the connection and try again.');
    this.status = status;
    this.code = body.code ?? 'unreachable';
    this.body = body;
  }
}

/** The header without which the service believes no cookie: another site cannot send it (docs/decisions/0021). */
export const pageHeader = { 'X-Millrun-Page': '1' } as const;

/** The prefix of the public API. */
export const apiPrefix = '/api/v2';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Calls the service as the signed-in person; a 204 gives undefined.
 *
 * @throws ApiError for every reply that is not 2xx, and when there is none.
 */
export async function call<T>(method: Method, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const response = await send(method, path, body, signal);
  const text = await response.text();
  const json: unknown = parse(text);
  if (!response.ok) throw new ApiError(response.status, (json ?? {}) as Partial<ErrorBody>);
  return json as T;
}

async function send(method: Method, path: string, body: unknown, signal: AbortSignal | undefined): Promise<Response> {
  const init: RequestInit = {
    method,
    headers: { ...pageHeader, Accept: 'application/json' },
    credentials: 'same-origin',
  };
  if (signal !== undefined) init.signal = signal;
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
  }
  try {
    return await fetch(path, init);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError(0, {});
  }
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The address of a download on this server, whatever name the service gave itself. */
export function localPath(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
