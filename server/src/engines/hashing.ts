import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { crc32 } from 'node:zlib';

export const hashAlgorithms = ['md5', 'sha1', 'sha256', 'sha384', 'sha512', 'blake2b', 'crc32'] as const;
export type HashAlgorithm = (typeof hashAlgorithms)[number];

interface Hasher {
  update(bytes: Buffer): void;
  hex(): string;
}

function createHasher(algorithm: HashAlgorithm): Hasher {
  if (algorithm === 'crc32') return createCrc32();
  // BLAKE2b at its full length, as `b2sum` computes it.
  const hash = createHash(algorithm === 'blake2b' ? 'blake2b512' : algorithm);
  return { update: (bytes) => void hash.update(bytes), hex: () => hash.digest('hex') };
}

/** CRC-32 as ZIP, PNG and `cksum -a crc32b` compute it. */
function createCrc32(): Hasher {
  let value = 0;
  return {
    update(bytes) {
      value = crc32(bytes, value);
    },
    hex: () => value.toString(16).padStart(8, '0'),
  };
}

/** The hashes of a file in lower-case hexadecimal, all in one reading. `onBytes` hears of every piece. */
export async function hashFile<A extends HashAlgorithm>(
  path: string,
  algorithms: readonly A[],
  { signal, onBytes }: { signal: AbortSignal; onBytes(count: number): void },
): Promise<Record<A, string>> {
  const hashers = algorithms.map((algorithm) => [algorithm, createHasher(algorithm)] as const);
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1024 * 1024 })) {
    for (const [, hasher] of hashers) hasher.update(chunk as Buffer);
    onBytes((chunk as Buffer).length);
  }
  return Object.fromEntries(hashers.map(([algorithm, hasher]) => [algorithm, hasher.hex()])) as Record<A, string>;
}
