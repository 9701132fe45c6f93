import sharp from 'sharp';
import { expect, test } from 'vitest';
import { animation } from '../../test/image-fixtures.ts';
import { isGifCutShort, withClearingFrames } from './gif.ts';

test('a whole GIF, one without its trailer and one with junk behind it are complete', async () => {
  const gif = await animation('gif');
  expect(isGifCutShort(gif)).toBe(false);
  expect(isGifCutShort(gif.subarray(0, -1))).toBe(false);
  expect(isGifCutShort(Buffer.concat([gif, Buffer.alloc(20)]))).toBe(false);
});

test('a GIF that ends inside a block is cut short', async () => {
  const gif = await animation('gif');
  for (const length of [5, 100, 200, 300, gif.length - 2]) expect(isGifCutShort(gif.subarray(0, length))).toBe(true);
});

/** A GIF of 4 x 2 with a global table of four colours: the left half red and to be cleared away, then one blue dot. */
function clearingGif(): Buffer {
  const colors = Buffer.from('000000ff00000000ffffffff', 'hex');
  const frame = (left: number, width: number, height: number, flags: number, data: number[]) => {
    const control = [0x21, 0xf9, 4, flags, 10, 0, 0, 0];
    return Buffer.from([...control, 0x2c, left, 0, 0, 0, width, 0, height, 0, 0, 2, data.length, ...data, 0]);
  };
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    Buffer.from([4, 0, 2, 0, 0x91, 0, 0]),
    colors,
    // Codes of three bits, the lowest first: clear, 1, 1, clear, 1, 1, end; and clear, 2, end.
    frame(0, 2, 2, 2 << 2, lzw([4, 1, 1, 4, 1, 1, 5])),
    frame(3, 1, 1, 0, lzw([4, 2, 5])),
    Buffer.from([0x3b]),
  ]);
}

function lzw(codes: readonly number[]): number[] {
  const bits = codes.reduce((sum, code, index) => sum | (BigInt(code) << BigInt(index * 3)), 0n);
  return Array.from({ length: Math.ceil((codes.length * 3) / 8) }, (_, at) => Number((bits >> BigInt(at * 8)) & 255n));
}

test('a frame that is cleared away leaves nothing, not the background colour', async () => {
  const cleared = withClearingFrames(clearingGif());
  expect(cleared).toBeDefined();
  const { data } = await sharp(cleared, { pages: -1 }).ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  const at = (frame: number, x: number) => [...data.subarray((frame * 8 + x) * 4, (frame * 8 + x) * 4 + 4)];
  expect(at(0, 0)).toEqual([255, 0, 0, 255]);
  expect(at(1, 0)[3]).toBe(0);
  expect(at(1, 3)).toEqual([0, 0, 255, 255]);
  expect(withClearingFrames(await animation('gif'))).toBeUndefined();
});
