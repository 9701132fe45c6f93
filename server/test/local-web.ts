import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WebFetch } from '../src/engines/web-access.ts';
import { Failure } from '../src/lib/failure.ts';
import { createWebAccess } from '../src/worker/web-fetch.ts';

/** A web server on the loopback address that remembers what it was asked for. */
export async function serveWeb(answer: RequestListener): Promise<{ port: number; asked: string[] } & AsyncDisposable> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { port: (server.address() as AddressInfo).port, asked, [Symbol.asyncDispose]: close };
}

/** The worker's own guarded way to the web, as a tool sees it. `allow` as `MILLRUN_FETCH_ALLOW`. */
export async function openWeb(allow: readonly string[]): Promise<{ fetch: WebFetch } & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'millrun-web-'));
  const run = createWebAccess({ allow }).forRun(directory, new AbortController().signal);
  return {
    async fetch({ url, method, headers, body }) {
      const content = body === undefined ? {} : { body: body.toString('base64') };
      const answer = await run.fetch({ url, method, headers: { ...headers }, ...content });
      if ('error' in answer) throw new Failure('invalid_input', answer.error);
      return { ...answer, body: await readFile(join(directory, answer.file)) };
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}
