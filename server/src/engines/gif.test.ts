import { expect, test } from 'vitest';
import { animation } from '../../test/image-fixtures.ts';
import { isGifCutShort } from './gif.ts';

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
