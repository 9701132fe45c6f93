import { lookup, Resolver } from 'node:dns/promises';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { systemClock } from '../lib/clock.ts';
import { errorCode, toError } from '../lib/errors.ts';

/** Finds the addresses of a host name. Throws, or gives none, when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

interface GuardOptions {
  /** Addresses, CIDRs and host names that may be called although they are not public. */
  allow: readonly string[];
  resolve?: Resolve;
}

export interface PostOptions {
  body: string;
  headers: Record<string, string>;
  /** For everything: finding the address, connecting, sending and the reply. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface PostOutcome {
  /** Absent when no reply came. */
  status?: number;
  /** The first 4 kB of the reply. */
  body?: string;
  /** Why there is no status, as a sentence. */
  error?: string;
  durationMs: number;
}

export interface AddressGuard {
  /** One sentence why a URL may not be called, or undefined. Resolves its name. */
  judge(url: string): Promise<string | undefined>;
  /**
   * POSTs once, to an address that was checked just before: a name that points elsewhere by the time of the connection
   * changes nothing. Follows no redirect. Whatever the network does is an outcome, never an exception.
   */
  post(url: string, options: PostOptions): Promise<PostOutcome>;
}

const maxReplyBytes = 4096;

/** Every IPv4 network that is not the public internet (IANA special-purpose registry, multicast, reserved). */
const privateIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
];

/**
 * IPv6 the other way round: only 2000::/3 is given out to the public. All the rest is refused, and with it every form that
 * carries an IPv4 address inside: ::/96, ::ffff:0:0/96 (mapped), 64:ff9b::/96 (NAT64), and loopback, fc00::/7, fe80::/10.
 */
const publicIpv6 = ['2000::/3'];
/** Inside it: protocol assignments with Teredo, documentation, 6to4. */
const privateIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const refusedNetworks = networks([...privateIpv4, ...privateIpv6]);
const publicIpv6Networks = networks(publicIpv6);

/** What may be called, and the only way to call it. Throws when an entry of `allow` is neither a network nor a name. */
export function createAddressGuard({ allow, resolve }: GuardOptions): AddressGuard {
  const { allowedNetworks, allowedNames } = parseAllow(allow);
  const resolveName = resolve ?? createResolve(allow.length > 0);

  function isAllowed(address: string): boolean {
    return contains(allowedNetworks, address) || isPublic(address);
  }

  async function check(given: string): Promise<{ url: URL; addresses: readonly string[] } | { refusal: string }> {
    const url = URL.parse(given);
    const refusal = url === null ? 'The URL is not valid.' : refuseForm(url);
    if (url === null || refusal !== undefined) return { refusal: refusal ?? '' };
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await resolveName(host).catch(() => []) : [host];
    if (addresses.length === 0) return { refusal: `The host name ${host} cannot be resolved.` };
    if (allowedNames.has(host) || addresses.every(isAllowed)) return { url, addresses };
    return { refusal: `The address of ${host} is not public.` };
  }

  return {
    async judge(url) {
      const checked = await check(url);
      return 'refusal' in checked ? checked.refusal : undefined;
    },

    async post(url, options) {
      const startedAt = systemClock.monotonicMs();
      const ended = AbortSignal.any([
        AbortSignal.timeout(options.timeoutMs),
        ...(options.signal ? [options.signal] : []),
      ]);
      const outcome = await attempt(ended, async () => {
        const checked = await orAborted(check(url), ended);
        return 'refusal' in checked ? { error: checked.refusal } : send(checked.url, checked.addresses, options, ended);
      });
      return { ...outcome, durationMs: Math.round(systemClock.monotonicMs() - startedAt) };
    },
  };
}

function refuseForm(url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The URL must begin with https:// or http://.';
  if (url.username !== '' || url.password !== '') return 'The URL must not contain a user name or a password.';
  return undefined;
}

/** The host as it is resolved: without the brackets of IPv6 and the dot that marks a full name. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** Whether an address belongs to the public internet. Anything that is no address does not. */
export function isPublic(address: string): boolean {
  if (isIP(address) === 0 || contains(refusedNetworks, address)) return false;
  return isIP(address) === 4 || contains(publicIpv6Networks, address);
}

function contains(list: BlockList, address: string): boolean {
  const [plain = ''] = address.split('%'); // A scope (`fe80::1%eth0`) says through which card, not whose it is.
  const version = isIP(plain);
  return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
}

function networks(cidrs: readonly string[]): BlockList {
  const list = new BlockList();
  for (const cidr of cidrs) addNetwork(list, cidr);
  return list;
}

/** Adds `address` or `address/bits`; false when the text is neither. */
function addNetwork(list: BlockList, cidr: string): boolean {
  const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(cidr) ?? [];
  const version = isIP(address);
  const longest = version === 4 ? 32 : 128;
  if (version === 0 || Number(bits ?? 0) > longest) return false;
  list.addSubnet(address, Number(bits ?? longest), version === 4 ? 'ipv4' : 'ipv6');
  return true;
}

function parseAllow(allow: readonly string[]): { allowedNetworks: BlockList; allowedNames: Set<string> } {
  const allowedNetworks = new BlockList();
  const allowedNames = new Set<string>();
  for (const entry of allow.map((given) => given.trim().toLowerCase().replace(/\.$/, ''))) {
    if (addNetwork(allowedNetworks, entry)) continue;
    if (!/^(?!.*\.\.)[a-z0-9_][a-z0-9._-]*$/.test(entry) || /^[\d.]+$/.test(entry)) {
      throw new Error(`"${entry}" is neither an address, nor a CIDR, nor a host name`);
    }
    allowedNames.add(entry);
  }
  return { allowedNetworks, allowedNames };
}

/**
 * Names are asked of the name servers directly, in parallel and outside Node's pool of four threads: `lookup` runs in that
 * pool, and a few names whose servers answer slowly would hold up every file operation of the process. Only where the
 * operator allows internal receivers the system's own way (hosts file, search domains) is asked for what the servers do
 * not know.
 */
function createResolve(withSystemNames: boolean): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 });
  return async (hostname) => {
    const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (addresses.length > 0 || !withSystemNames) return addresses;
    return (await lookup(hostname, { all: true })).map(({ address }) => address);
  };
}

type Reply = Omit<PostOutcome, 'durationMs'>;

async function attempt(signal: AbortSignal, work: () => Promise<Reply>): Promise<Reply> {
  try {
    return await work();
  } catch (error) {
    return { error: sentence(signal.aborted ? signal.reason : error) };
  }
}

/** For a promise that takes no signal: rejects when the signal is aborted first. */
async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function send(url: URL, addresses: readonly string[], options: PostOptions, signal: AbortSignal): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    // A socket of its own: a kept-alive one of the same name would skip the check of the address.
    agent: false,
    lookup: pinnedLookup(addresses),
    signal,
    headers: {
      ...options.headers,
      'Accept-Encoding': 'identity',
      'Content-Length': Buffer.byteLength(options.body),
    },
  });
  request.on('error', reject);
  request.on('response', (response) => resolve(readReply(request, response)));
  request.on('close', () => reject(new Error('The receiver closed the connection without a reply.')));
  request.end(options.body);
  return promise;
}

/** Answers with the checked addresses whatever is asked; literal addresses are dialled without asking. */
function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

/** The status counts from the moment it is here: a reply that breaks off or drips later only has a shorter body. */
async function readReply(request: ClientRequest, response: IncomingMessage): Promise<Reply> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= maxReplyBytes) break;
    }
  } catch {
    // What has come is kept.
  }
  request.destroy();
  const body = Buffer.concat(chunks).subarray(0, maxReplyBytes).toString().replaceAll('\0', '\uFFFD');
  return { status: response.statusCode ?? 0, body };
}

const sentences: Partial<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection without a reply.',
  EPIPE: 'The receiver closed the connection without a reply.',
  EHOSTUNREACH: 'The receiver cannot be reached.',
  ENETUNREACH: 'The receiver cannot be reached.',
  ETIMEDOUT: 'The receiver cannot be reached.',
};

/** A network error for the owner of the webhook, who knows nothing of system calls. */
function sentence(cause: unknown): string {
  const error = toError(cause);
  if (error.name === 'TimeoutError') return 'The receiver did not answer in time.';
  if (error.name === 'AbortError') return 'The delivery was interrupted.';
  const code = errorCode(error);
  if (code === undefined) return error.message;
  if (/EPROTO|CERT|TLS|SSL|ISSUER|SIGNATURE/.test(code)) return `A secure connection cannot be made (${code}).`;
  if (code.startsWith('HPE_')) return `The reply is not valid HTTP (${code}).`;
  return sentences[code] ?? `The connection failed (${code}).`;
}
