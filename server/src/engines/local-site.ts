import { readFile, stat } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { open, type Entry, type ZipFile } from 'yauzl';
import { toError } from '../lib/errors.ts';
import { Failure } from '../lib/failure.ts';
import { fileTypes } from '../lib/media-types.ts';
import type { WebFetch, WebResponse } from './web-access.ts';

/*
 * A page that was uploaded, as a site under an address that exists nowhere: never `file:`, where a page could ask for
 * other files. What the site has not is not found, and nothing outside of it is asked for.
 */

const origin = 'https://input.millrun.invalid';

export interface LocalSite extends AsyncDisposable {
  /** Of its first page. */
  url: string;
  fetch: WebFetch;
}

/** What of an input is needed. */
interface Source {
  path: string;
  filename: string;
}

/** A site of one page that is at hand as text. */
export function siteOfHtml(html: string): LocalSite {
  return siteOf('index.html', async (path) => (path === 'index.html' ? Buffer.from(html) : undefined));
}

/** A site of one HTML file. */
export async function siteOfFile({ path, filename }: Source): Promise<LocalSite> {
  const { size } = await stat(path);
  if (size > mostPageBytes) {
    throw new Failure('resource_limit', `${filename} is larger than the 100 MB a page may be.`, { file: filename });
  }
  return siteOf('index.html', async (asked) => (asked === 'index.html' ? readFile(path) : undefined));
}

const mostPageBytes = 100_000_000;
const mostEntries = 10_000;
const mostSiteBytes = 500_000_000;

/**
 * A site in a ZIP archive. Its page is `index.html` at the top, or in the one folder everything is in, or else the only
 * HTML file there is. Files are unpacked when they are asked for.
 *
 * @throws Failure `invalid_input` for a damaged archive, one with links or paths that lead out, or without a page;
 *   `password_required`; `resource_limit`.
 */
export async function siteOfZip({ path, filename }: Source): Promise<LocalSite> {
  const refuse = (code: 'invalid_input' | 'resource_limit' | 'password_required', why: string, cause?: unknown) =>
    new Failure(code, `${filename} ${why}.`, { file: filename, cause });
  const { zip, entries } = await openZip(path).catch((cause: unknown) => {
    if (cause instanceof TooMany) throw refuse('resource_limit', `holds more than ${mostEntries} files`);
    throw refuse('invalid_input', `is no ZIP archive that can be used: ${toError(cause).message}`, cause);
  });
  try {
    const files = entries.filter(({ fileName }) => !fileName.endsWith('/') && !fileName.startsWith('__MACOSX/'));
    if (files.some(isLink)) throw refuse('invalid_input', 'holds a link, which a site may not');
    if (files.some((entry) => entry.isEncrypted())) throw refuse('password_required', 'is protected with a password');
    const total = files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (total > mostSiteBytes || files.some(({ uncompressedSize }) => uncompressedSize > mostPageBytes)) {
      throw refuse('resource_limit', 'unpacks to more than a site may hold (500 MB, 100 MB a file)');
    }
    const index = findIndex(files.map(({ fileName }) => fileName));
    if (index === undefined) throw refuse('invalid_input', 'has no index.html, nor exactly one HTML file');
    const root = /^[^/]+\/index\.html?$/i.test(index) ? index.slice(0, index.indexOf('/') + 1) : '';
    const byName = new Map(files.map((entry) => [entry.fileName, entry]));
    const site = siteOf(index.slice(root.length), async (asked) => {
      const entry = byName.get(root + asked) ?? byName.get(`${root}${asked}/index.html`.replace('//', '/'));
      return entry === undefined ? undefined : readEntry(zip, entry);
    });
    return { ...site, [Symbol.asyncDispose]: async () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

class TooMany extends Error {}

function openZip(path: string): Promise<{ zip: ZipFile; entries: Entry[] }> {
  return new Promise((resolve, reject) => {
    open(path, { lazyEntries: true, autoClose: false }, (error, zip) => {
      if (error !== null) return reject(error);
      const entries: Entry[] = [];
      const fail = (reason: Error) => {
        zip.close();
        reject(reason);
      };
      zip.on('error', fail);
      zip.on('end', () => resolve({ zip, entries }));
      zip.on('entry', (entry: Entry) => {
        entries.push(entry);
        if (entries.length > mostEntries) fail(new TooMany());
        else zip.readEntry();
      });
      return zip.readEntry();
    });
  });
}

/** The file type of Unix, in the upper half of the attributes, is a symbolic link. */
function isLink({ externalFileAttributes }: Entry): boolean {
  return ((externalFileAttributes >>> 16) & 0o170000) === 0o120000;
}

async function readEntry(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>();
  zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
  return buffer(await promise); // The library ends a stream that is longer than the archive says.
}

function findIndex(names: readonly string[]): string | undefined {
  const pages = names.filter((name) => /\.x?html?$/i.test(name));
  const atTop = pages.find((name) => /^index\.x?html?$/i.test(name));
  if (atTop !== undefined) return atTop;
  const folders = new Set(names.map((name) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')));
  const inFolder = pages.find((name) => /^[^/]+\/index\.x?html?$/i.test(name));
  if (folders.size === 1 && inFolder !== undefined) return inFolder;
  return pages.length === 1 ? pages[0] : undefined;
}

type ReadPath = (path: string) => Promise<Buffer | undefined>;

function siteOf(index: string, read: ReadPath): LocalSite {
  return {
    url: `${origin}/${index.split('/').map(encodeURIComponent).join('/')}`,
    fetch: async ({ url }) => {
      const asked = new URL(url);
      if (asked.origin !== origin) {
        throw new Failure('invalid_input', 'An uploaded page shows only what was uploaded with it.');
      }
      const path = decodePath(asked.pathname);
      const body = path === undefined ? undefined : await read(path === '' ? index : path);
      return body === undefined || path === undefined ? notFound : found(path === '' ? index : path, body);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function decodePath(pathname: string): string | undefined {
  try {
    return decodeURIComponent(pathname.slice(1));
  } catch {
    return undefined;
  }
}

const notFound: WebResponse = {
  status: 404,
  headers: [{ name: 'Content-Type', value: 'text/plain' }],
  body: Buffer.alloc(0),
};

function found(path: string, body: Buffer): WebResponse {
  const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const mediaType = mediaTypes.get(extension) ?? 'application/octet-stream';
  const charset = needsCharset(mediaType, body) ? '; charset=utf-8' : '';
  return { status: 200, headers: [{ name: 'Content-Type', value: mediaType + charset }], body };
}

const mediaTypes = new Map<string, string>([
  ...Object.values(fileTypes).flatMap(({ mediaType, extensions }) =>
    extensions.map((extension): [string, string] => [extension, mediaType]),
  ),
  ['mjs', 'text/javascript'],
  ['js', 'text/javascript'],
  ['xhtml', 'text/html'],
]);

/**
 * UTF-8 that does not say so would be read as windows-1252. What says something else itself, in a mark or in the place
 * where browsers look for it, is left to the browser.
 */
function needsCharset(mediaType: string, body: Buffer): boolean {
  if (!/^text\/(html|css|javascript|plain)$/.test(mediaType)) return false;
  if (mediaType === 'text/html' && /<meta[^>]+charset\s*=/i.test(body.toString('latin1', 0, 1024))) return false;
  if (mediaType === 'text/css' && body.toString('latin1', 0, 20).startsWith('@charset')) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(body);
    return true;
  } catch {
    return false;
  }
}
