import { deflateSync } from 'node:zlib';
import { pngChunk, pngSignature } from './png.ts';

/** The gamma of sRGB as PNG writes it, times 100,000; what is this near to it looks the same. */
const usualGamma = 45_455;
const tolerance = 2000;
/** Chunks that say more on colours than a gamma does, and stand before the pixels. */
const colorChunks = new Set(['iCCP', 'sRGB', 'cICP']);
const greyTypes = new Set([0, 4]);

/**
 * A PNG whose pixels are of another gamma than sRGB's, which viewers follow and libvips does not, with that gamma as a colour
 * profile instead. Undefined for a PNG that can stay as it is.
 */
export function pngWithGammaProfile(file: Buffer): Buffer | undefined {
  const kept: Buffer[] = [pngSignature];
  let gamma = usualGamma;
  for (let at = pngSignature.length; at + 12 <= file.length;) {
    const type = file.toString('latin1', at + 4, at + 8);
    const end = at + 12 + file.readUInt32BE(at);
    if (colorChunks.has(type) || end > file.length) return undefined;
    if (type === 'IDAT') {
      if (gamma === 0 || Math.abs(gamma - usualGamma) <= tolerance) return undefined;
      const isGrey = greyTypes.has(file[25] ?? 0);
      const profile = deflateSync(gammaProfile(100_000 / gamma, isGrey));
      const chunk = pngChunk('iCCP', Buffer.concat([Buffer.from('gamma\0\0', 'latin1'), profile]));
      const [header = Buffer.alloc(0), ...others] = kept.slice(1);
      return Buffer.concat([pngSignature, header, chunk, ...others, file.subarray(at)]);
    }
    if (type === 'gAMA') gamma = file.readUInt32BE(at + 8);
    else kept.push(file.subarray(at, end));
    at = end;
  }
  return undefined;
}

/** A colour profile (ICC 2.1) of the primaries of sRGB, or of grey, and a plain power for its curve. */
function gammaProfile(power: number, isGrey: boolean): Buffer {
  const curve = Buffer.concat([tagHead('curv'), longs(1), shorts(Math.round(power * 256))]);
  const white: Tag = ['wtpt', xyz(0.9642, 1, 0.8249)];
  const named: Tag[] = [
    ['desc', Buffer.concat([tagHead('desc'), longs(6), Buffer.from('gamma\0', 'latin1'), Buffer.alloc(78)])],
    ['cprt', Buffer.concat([tagHead('text'), Buffer.from('None\0', 'latin1')])],
    white,
  ];
  if (isGrey) return profileOf('GRAY', [...named, ['kTRC', curve]]);
  return profileOf('RGB ', [
    ...named,
    ['rXYZ', xyz(0.436_07, 0.222_49, 0.013_92)],
    ['gXYZ', xyz(0.385_15, 0.716_87, 0.097_08)],
    ['bXYZ', xyz(0.143_07, 0.060_61, 0.7141)],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ]);
}

type Tag = [signature: string, content: Buffer];

const headBytes = 128;

function profileOf(colorSpace: string, tags: readonly Tag[]): Buffer {
  const table = [longs(tags.length)];
  const contents: Buffer[] = [];
  let at = headBytes + 4 + tags.length * 12;
  for (const [signature, content] of tags) {
    const padded = Buffer.concat([content, Buffer.alloc(-content.length & 3)]);
    table.push(Buffer.from(signature, 'latin1'), longs(at, content.length));
    contents.push(padded);
    at += padded.length;
  }
  const head = Buffer.alloc(headBytes);
  head.writeUInt32BE(at, 0);
  head.writeUInt32BE(0x0210_0000, 8);
  head.write(`mntr${colorSpace}XYZ `, 12, 'latin1');
  head.write('acsp', 36, 'latin1');
  xyz(0.9642, 1, 0.8249).copy(head, 68, 8);
  return Buffer.concat([head, ...table, ...contents]);
}

function tagHead(signature: string): Buffer {
  return Buffer.concat([Buffer.from(signature, 'latin1'), Buffer.alloc(4)]);
}

function xyz(...values: number[]): Buffer {
  return Buffer.concat([tagHead('XYZ '), longs(...values.map((value) => Math.round(value * 65_536)))]);
}

function longs(...values: number[]): Buffer {
  return Buffer.from(new Uint32Array(values).buffer).swap32();
}

function shorts(...values: number[]): Buffer {
  return Buffer.from(new Uint16Array(values).buffer).swap16();
}
