import type { CDPSession } from 'playwright-core';
import { toError } from '../lib/errors.ts';
import type { WebFetch, WebRequest, WebResponse } from './web-access.ts';

/** What the browser shows now. */
export interface Visit {
  fetch: WebFetch;
  /** Id of the frame that is the page itself. */
  mainFrame: string;
  /** Told why the page itself, or one it leads to, cannot be had: a sentence. */
  onRefusal(reason: string): void;
}

/** The event `Fetch.requestPaused` of the DevTools protocol, as far as it is used. */
export interface PausedRequest {
  requestId: string;
  frameId: string;
  resourceType: string;
  request: {
    url: string;
    method: string;
    headers: Record<string, string>;
    postDataEntries?: { bytes?: string }[];
  };
}

/**
 * Answers a request the browser wants to make, whoever in the page made it. Only http and https are asked for; `file:` and
 * everything else is refused here, where the sandbox would have nothing to give anyway. A document that is refused is
 * answered with 204, on which a browser stays where it is: an error page is never what is printed.
 */
export async function answerRequest(
  session: CDPSession,
  visit: Visit | undefined,
  { requestId, frameId, resourceType, request }: PausedRequest,
): Promise<void> {
  const refuse = () => session.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
  try {
    const { protocol } = new URL(request.url);
    if (protocol === 'data:' || protocol === 'blob:') {
      await session.send('Fetch.continueRequest', { requestId });
      return;
    }
    if (visit === undefined || (protocol !== 'http:' && protocol !== 'https:')) {
      await refuse();
      return;
    }
    const response = await visit.fetch(toWebRequest(request)).catch((error: unknown) => {
      if (frameId === visit.mainFrame && resourceType === 'Document') visit.onRefusal(toError(error).message);
    });
    if (response !== undefined) await fulfil(session, requestId, response);
    else if (resourceType === 'Document') await fulfil(session, requestId, noContent);
    else await refuse();
  } catch {
    // The page or the browser has gone, or it does not like an answer: then there is none.
    await refuse().catch(() => undefined);
  }
}

const noContent: WebResponse = { status: 204, headers: [], body: Buffer.alloc(0) };

function toWebRequest({ url, method, headers, postDataEntries = [] }: PausedRequest['request']): WebRequest {
  const parts = postDataEntries.map(({ bytes = '' }) => Buffer.from(bytes, 'base64'));
  const withoutFragment = url.replace(/#.*$/s, '');
  return { url: withoutFragment, method, headers, ...(parts.length === 0 ? {} : { body: Buffer.concat(parts) }) };
}

async function fulfil(session: CDPSession, requestId: string, { status, headers, body }: WebResponse): Promise<void> {
  await session.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: status,
    responseHeaders: headers.map(({ name, value }) => ({ name, value })),
    body: body.toString('base64'),
  });
}
