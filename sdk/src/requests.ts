import { MillrunError } from './errors.ts';
import type { ApiRequest, CallOptions, Transport } from './transport.ts';

interface Page<T> {
  data: T[];
  next_cursor: string | null;
}

export async function getJson<T>(
  transport: Transport,
  path: string,
  { signal }: CallOptions,
  query: ApiRequest['query'] = {},
): Promise<T> {
  return transport.json<T>({ method: 'GET', path, query, repeatable: true, signal });
}

/** Everything on all pages, fetched as it is asked for. */
export async function* getPages<T>(
  transport: Transport,
  path: string,
  call: CallOptions,
  query: ApiRequest['query'],
): AsyncGenerator<T, void> {
  let cursor: string | undefined;
  do {
    const page = await getJson<Page<T>>(transport, path, call, { ...query, cursor });
    yield* page.data;
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** Asks for what makes something anew each time: a lost reply is the caller's to judge. */
export async function post<T>(transport: Transport, path: string, { signal }: CallOptions, json?: unknown): Promise<T> {
  return transport.json<T>({ method: 'POST', path, json, repeatable: false, signal });
}

/** A deletion whose reply was lost is asked for again, and then there is nothing to delete. */
export async function deleteAt(transport: Transport, path: string, { signal }: CallOptions): Promise<void> {
  try {
    await transport.json<undefined>({ method: 'DELETE', path, repeatable: true, signal });
  } catch (error) {
    if (!wasDoneUnheard(error, 404)) throw error;
  }
}

/** A refusal that follows from an earlier try of the same request, whose reply was lost. */
export function wasDoneUnheard(error: unknown, status: number): boolean {
  return error instanceof MillrunError && error.replyLost && error.status === status;
}
