import { Failure } from '../lib/failure.ts';
import { type OpenImage, readPixels } from './images.ts';
import { loadSharp } from './sharp.ts';

export interface PaletteColor {
  /** sRGB, 0 to 255. */
  rgb: readonly [number, number, number];
  /** Of the visible pixels, 0 to 1. */
  share: number;
}

/** Longer side of the sample that is counted: no colour that anybody would notice is missed. */
const sampleSide = 256;
const rounds = 24;

type Lab = readonly [number, number, number];
interface Weighted {
  lab: Lab;
  rgb: readonly [number, number, number];
  count: number;
}

/**
 * The main colours of an image, the most frequent first; fewer where it has fewer. Groups of colours that look alike are
 * found by k-means in OKLab (B. Ottosson 2020), started from the colours farthest apart (as k-means++ by D. Arthur and
 * S. Vassilvitskii 2007, but without chance: the same image gives the same palette).
 *
 * @throws Failure `invalid_input` for an image without a visible pixel.
 */
export async function colorPalette(image: OpenImage, count: number): Promise<PaletteColor[]> {
  const colors = await countColors(image);
  if (colors.length === 0) {
    const { filename } = image.file;
    throw new Failure('invalid_input', `"${filename}" is transparent all over: it shows no colour.`, {
      file: filename,
    });
  }
  const total = colors.reduce((sum, color) => sum + color.count, 0);
  const groups = colors.length <= count ? colors.map((color) => [color]) : cluster(colors, count);
  return groups
    .map((group) => ({ rgb: meanColor(group), share: group.reduce((sum, color) => sum + color.count, 0) / total }))
    .toSorted((a, b) => b.share - a.share);
}

/** Sampled without mixing neighbours, so that a drawing of three colours has three. */
async function countColors(image: OpenImage): Promise<Weighted[]> {
  const { data } = await readPixels(image, (pipeline) =>
    pipeline.resize(sampleSide, sampleSide, { fit: 'inside', withoutEnlargement: true, kernel: 'nearest' }),
  );
  const counts = new Map<number, number>();
  for (let at = 0; at < data.length; at += 4) {
    if ((data[at + 3] ?? 0) < 128) continue;
    const key = ((data[at] ?? 0) << 16) | ((data[at + 1] ?? 0) << 8) | (data[at + 2] ?? 0);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts.size <= maxExactColors ? [...counts].map(weighted) : binned(counts);
}

/** Photos have thousands of colours; above this they are counted in bins of 8 steps a channel. */
const maxExactColors = 2048;

function weighted([key, count]: readonly [number, number]): Weighted {
  const rgb = [key >> 16, (key >> 8) & 255, key & 255] as const;
  return { rgb, count, lab: toOklab(rgb) };
}

function binned(counts: ReadonlyMap<number, number>): Weighted[] {
  const bins = Map.groupBy(counts, ([key]) => key & 0xf8_f8_f8);
  return [...bins.values()].map((entries) => {
    const group = entries.map(weighted);
    return { rgb: meanColor(group), lab: meanLab(group), count: group.reduce((sum, { count }) => sum + count, 0) };
  });
}

function cluster(colors: readonly Weighted[], count: number): Weighted[][] {
  let centers = farApart(colors, count);
  let groups: Weighted[][] = [];
  for (let round = 0; round < rounds; round++) {
    groups = centers.map(() => []);
    for (const color of colors) groups[nearest(color.lab, centers)]?.push(color);
    const moved = groups.map((group, index): Lab =>
      group.length === 0 ? (centers[index] ?? [0, 0, 0]) : meanLab(group),
    );
    const isStill = moved.every((center, index) => distance(center, centers[index] ?? center) < 1e-7);
    centers = moved;
    if (isStill) break;
  }
  return mergeAlike(groups.filter((group) => group.length > 0));
}

/** Nobody tells colours apart that are closer than this in OKLab: two of them are no two colours of a palette. */
const alike = 0.02 ** 2;

function mergeAlike(groups: readonly Weighted[][]): Weighted[][] {
  const merged: Weighted[][] = [];
  for (const group of groups) {
    const same = merged.find((other) => distance(meanLab(other), meanLab(group)) < alike);
    if (same === undefined) merged.push([...group]);
    else same.push(...group);
  }
  return merged;
}

/** The most frequent colour, then each time the one that is frequent and far from all so far. */
function farApart(colors: readonly Weighted[], count: number): Lab[] {
  const first = colors.reduce((best, color) => (color.count > best.count ? color : best));
  const centers: Lab[] = [first.lab];
  const away = colors.map(({ lab }) => distance(lab, first.lab));
  while (centers.length < count) {
    let best = 0;
    let most = -1;
    for (const [index, color] of colors.entries()) {
      const weight = color.count * (away[index] ?? 0);
      if (weight > most) [best, most] = [index, weight];
    }
    const center = colors[best]?.lab ?? first.lab;
    centers.push(center);
    for (const [index, { lab }] of colors.entries()) away[index] = Math.min(away[index] ?? 0, distance(lab, center));
  }
  return centers;
}

function nearest(lab: Lab, centers: readonly Lab[]): number {
  let best = 0;
  let least = Infinity;
  for (const [index, center] of centers.entries()) {
    const away = distance(lab, center);
    if (away < least) [best, least] = [index, away];
  }
  return best;
}

function distance(a: Lab, b: Lab): number {
  return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2;
}

function meanLab(group: readonly Weighted[]): Lab {
  const total = group.reduce((sum, { count }) => sum + count, 0);
  const mean = (channel: 0 | 1 | 2) => group.reduce((sum, { lab, count }) => sum + lab[channel] * count, 0) / total;
  return [mean(0), mean(1), mean(2)];
}

function meanColor(group: readonly Weighted[]): readonly [number, number, number] {
  return group.length === 1 && group[0] !== undefined ? group[0].rgb : fromOklab(meanLab(group));
}

function toLinear(value: number): number {
  const share = value / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

function fromLinear(light: number): number {
  const share = light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, share)) * 255);
}

function toOklab([red, green, blue]: readonly [number, number, number]): Lab {
  const [r, g, b] = [toLinear(red), toLinear(green), toLinear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function fromOklab([lightness, a, b]: Lab): readonly [number, number, number] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    fromLinear(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    fromLinear(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    fromLinear(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

export const colorNotations = ['hex', 'rgb', 'hsl'] as const;
export type ColorNotation = (typeof colorNotations)[number];

/** A colour as CSS writes it. */
export function writeColor([red, green, blue]: PaletteColor['rgb'], notation: ColorNotation): string {
  if (notation === 'rgb') return `rgb(${red}, ${green}, ${blue})`;
  if (notation === 'hex') {
    return `#${[red, green, blue].map((value) => value.toString(16).padStart(2, '0')).join('')}`;
  }
  const [r, g, b] = [red / 255, green / 255, blue / 255];
  const [high, low] = [Math.max(r, g, b), Math.min(r, g, b)];
  const [light, span] = [(high + low) / 2, high - low];
  const saturation = span === 0 ? 0 : span / (1 - Math.abs(2 * light - 1));
  const sector = high === r ? ((g - b) / span + 6) % 6 : high === g ? (b - r) / span + 2 : (r - g) / span + 4;
  const hue = span === 0 ? 0 : Math.round(sector * 60) % 360;
  return `hsl(${hue}, ${Math.round(saturation * 100)}%, ${Math.round(light * 100)}%)`;
}

/** Writes the colours as a PNG of squares in a row. */
export async function drawPalette(colors: readonly PaletteColor[], path: string): Promise<void> {
  const side = 96;
  const sharp = await loadSharp();
  const pixels = Buffer.from(colors.flatMap(({ rgb }) => [...rgb]));
  await sharp(pixels, { raw: { width: colors.length, height: 1, channels: 3 } })
    .resize(side * colors.length, side, { fit: 'fill', kernel: 'nearest' })
    .png()
    .toFile(path);
}
