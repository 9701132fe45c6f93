import type { Engine } from './engine.ts';

/*
 * A tool's way to the web. The sandbox has no network: what a tool asks for is fetched by the worker outside, which
 * decides what may be reached (`worker/web-fetch.ts`).
 */

/** Reported by workers whose operator lets tools fetch web pages; nothing is installed for it. */
export const webAccess: Engine = {
  id: 'web-access',
  name: 'Access to web pages',
  license: 'Apache-2.0',
  install: 'MILLRUN_FETCH=public in the environment of the workers',
  version: async () => 'public',
};

export interface WebRequest {
  url: string;
  method: string;
  /** Those a web page may set are passed on; see `worker/web-fetch.ts`. */
  headers: Readonly<Record<string, string>>;
  body?: Buffer;
}

export interface WebHeader {
  name: string;
  value: string;
}

export interface WebResponse {
  status: number;
  headers: readonly WebHeader[];
  /** Decoded: without its content encoding. */
  body: Buffer;
}

/**
 * Answers one request; redirects are answers like any other.
 *
 * @throws Failure `invalid_input` with a sentence when the address may not be called or gives no answer.
 */
export type WebFetch = (request: WebRequest) => Promise<WebResponse>;
