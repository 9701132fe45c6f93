import type { WebFetch } from '../../engines/web-access.ts';

/** The form of an address a page is fetched from; whether it may be called is decided by the worker. */
export const addressForm = {
  max: 2000,
  pattern: /^[Hh][Tt][Tt][Pp][Ss]?:\/\/\S+$/,
  patternHint: 'must be an address that starts with https:// or http://',
};

/** What is wrong with an address beyond its form; undefined when nothing is. */
export function addressProblem(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null) return 'is not a valid address';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or a password';
  return undefined;
}

/** Where a page of the web comes from, as `showPage` wants it. */
export function webPage(
  address: string,
  fetch: WebFetch,
): { url: string; fetch: WebFetch; name: string; stem: string } {
  const url = new URL(address);
  return { url: url.href, fetch, name: `The page at ${url.host}`, stem: url.hostname.replace(/^\[|\]$|^www\./g, '') };
}
