import { type OpenImage, readPixels } from './images.ts';

/** What is compared of an image: how it looks at a distance. */
export interface Fingerprint {
  /** 64 bits: whether each of 8 x 8 places is brighter than the one to its left. */
  hash: bigint;
  /** So even that the bits say nothing. */
  isPlain: boolean;
  /** Mean colour. */
  color: readonly [number, number, number];
}

/** Steps of brightness between two places that are no more than noise, 0 to 255. */
const noise = 3;
/** Plain pictures are the same when no channel of their colours differs more. */
const plainDifference = 12;

/** The difference hash ("dHash", N. Krawetz 2013) of an image on white, upright. */
export async function fingerprint(image: OpenImage): Promise<Fingerprint> {
  const { data } = await readPixels(image, (pipeline) =>
    pipeline.flatten({ background: '#ffffff' }).resize(9, 8, { fit: 'fill' }),
  );
  const luminance = (index: number) =>
    0.2126 * (data[index * 4] ?? 0) + 0.7152 * (data[index * 4 + 1] ?? 0) + 0.0722 * (data[index * 4 + 2] ?? 0);
  let hash = 0n;
  let widest = 0;
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const step = luminance(row * 9 + column + 1) - luminance(row * 9 + column);
      widest = Math.max(widest, Math.abs(step));
      hash = (hash << 1n) | (step > noise / 3 ? 1n : 0n);
    }
  }
  const mean = (channel: number) => {
    let sum = 0;
    for (let at = channel; at < data.length; at += 4) sum += data[at] ?? 0;
    return Math.round(sum / (data.length / 4));
  };
  return { hash, isPlain: widest < noise, color: [mean(0), mean(1), mean(2)] };
}

/** Bits in which two fingerprints differ, 0 to 64. Plain pictures are told apart by their colour alone. */
export function distanceOf(one: Fingerprint, other: Fingerprint): number {
  if (one.isPlain || other.isPlain) {
    const apart = Math.max(...one.color.map((value, channel) => Math.abs(value - (other.color[channel] ?? 0))));
    return one.isPlain && other.isPlain && apart <= plainDifference ? 0 : 64;
  }
  let bits = one.hash ^ other.hash;
  let count = 0;
  for (; bits > 0n; bits &= bits - 1n) count++;
  return count;
}

/** Groups of at least two whose members are linked by pairs at most `distance` apart: indexes, ascending. */
export function groupSimilar(prints: readonly Fingerprint[], distance: number): number[][] {
  const leader = prints.map((_, index) => index);
  const find = (index: number): number => (leader[index] === index ? index : find(leader[index] ?? index));
  for (const [index, print] of prints.entries()) {
    for (let earlier = 0; earlier < index; earlier++) {
      const other = prints[earlier];
      if (other !== undefined && distanceOf(print, other) <= distance) leader[find(index)] = find(earlier);
    }
  }
  const groups = Map.groupBy(prints.keys(), find);
  return [...groups.values()].filter((members) => members.length > 1).toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
}
