import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { parseId, publicId, type Uuid } from '../lib/ids.ts';

/** How long a download address works, in seconds; every GET of the run makes a new one. */
export const downloadSeconds = 3600;

/** Absolute addresses of a run for one base URL (`https://host/api/v2`). */
export interface Links {
  run(id: Uuid): string;
  stream(id: Uuid): string;
  output(id: Uuid, index: number, filename: string): string;
  /** All outputs as one ZIP. */
  archive(id: Uuid): string;
}

/** What a download address opens: an output by its place, or all of them. */
export type Download = number | 'archive';

export type LinkVerdict = 'valid' | 'expired' | 'forged';

export interface LinkSigner {
  links(baseUrl: string): Links;
  /** The same download address, valid for another hour. */
  renew(url: string): string;
  /** Judges the query of a download address. */
  verify(id: Uuid, download: Download, expires: string, signature: string): LinkVerdict;
}

export function createLinkSigner(key: Buffer, clock: Clock): LinkSigner {
  const sign = (id: Uuid, download: Download, expires: number) =>
    createHmac('sha256', key).update(`output:${id}:${download}:${expires}`).digest('base64url');
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000);
  const query = (id: Uuid, download: Download) => {
    const expires = nowSeconds() + downloadSeconds;
    return `expires=${expires}&signature=${sign(id, download, expires)}`;
  };
  const outputAddress = (baseUrl: string, id: Uuid, index: number, filename: string) =>
    `${baseUrl}/runs/${publicId('run', id)}/outputs/${index}/${encodeURIComponent(filename)}?${query(id, index)}`;
  const archiveAddress = (baseUrl: string, id: Uuid) =>
    `${baseUrl}/runs/${publicId('run', id)}/archive?${query(id, 'archive')}`;
  return {
    links: (baseUrl) => ({
      run: (id) => `${baseUrl}/runs/${publicId('run', id)}`,
      stream: (id) => `${baseUrl}/runs/${publicId('run', id)}/stream`,
      output: (id, index, filename) => outputAddress(baseUrl, id, index, filename),
      archive: (id) => archiveAddress(baseUrl, id),
    }),
    renew(url) {
      const match = /^(.*)\/runs\/(run_[0-9a-z]+)\/(?:archive|outputs\/(\d+)\/([^/?]*))\?/.exec(url);
      const id = parseId('run', match?.[2] ?? '');
      if (match === null || id === undefined) return url;
      const [, base = '', , index, filename = ''] = match;
      if (index === undefined) return archiveAddress(base, id);
      return outputAddress(base, id, Number(index), decodeURIComponent(filename));
    },
    verify(id, download, expires, signature) {
      if (!/^\d{1,12}$/.test(expires)) return 'forged';
      const expected = Buffer.from(sign(id, download, Number(expires)));
      const given = Buffer.from(signature);
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return 'forged';
      return Number(expires) < nowSeconds() ? 'expired' : 'valid';
    },
  };
}
