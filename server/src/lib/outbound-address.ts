import { lookup, Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/*
 * What of the network strangers may make this service call: the public internet, and what the operator has named. For
 * every request somebody else chooses the address of; `pinnedLookup` makes sure that the checked address is the one that
 * is dialled.
 */

/** Finds the addresses of a host name. Throws, or gives none, when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

interface CheckerOptions {
  /** Addresses, CIDRs and host names that may be called although they are not public. */
  allow: readonly string[];
  resolve?: Resolve;
}

export type CheckedAddress =
  /** `listed`: the operator has named it in `allow`. */
  | { url: URL; addresses: readonly string[]; listed: boolean }
  /** One sentence why it may not be called. */
  | { refusal: string };

/** Judges a URL; resolves its name, once. */
export type AddressChecker = (url: string) => Promise<CheckedAddress>;

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

/** Throws when an entry of `allow` is neither a network nor a name. */
export function createAddressChecker({ allow, resolve }: CheckerOptions): AddressChecker {
  const { allowedNetworks, allowedNames } = parseAllow(allow);
  const resolveName = resolve ?? createResolve(allow.length > 0);
  return async (given) => {
    const url = URL.parse(given);
    const refusal = url === null ? 'The URL is not valid.' : refuseForm(url);
    if (url === null || refusal !== undefined) return { refusal: refusal ?? '' };
    const host = hostOf(url);
    const addresses = isIP(host) === 0 ? await resolveName(host).catch(() => []) : [host];
    if (addresses.length === 0) return { refusal: `The host name ${host} cannot be resolved.` };
    const isListed = (address: string) => contains(allowedNetworks, address);
    const listed = allowedNames.has(host) || addresses.every(isListed);
    const allowed = listed || addresses.every((address) => isListed(address) || isPublic(address));
    return allowed ? { url, addresses, listed } : { refusal: `The address of ${host} is not public.` };
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

/** Answers with the checked addresses whatever is asked; literal addresses are dialled without asking. */
export function pinnedLookup(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all === true) callback(null, found);
    else callback(null, found[0]?.address ?? '', found[0]?.family);
  };
}

/** For a promise that takes no signal: rejects when the signal is aborted first. */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
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
