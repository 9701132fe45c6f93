import { writeFile } from 'node:fs/promises';

/**
 * Writes `fixtures/photo.dng`: a camera raw photo of 96 x 64, an uncompressed RGGB sensor whose left half saw red and whose
 * right half saw blue. Run by hand; the result is kept. Format: Adobe DNG 1.4.
 */
const width = 96;
const height = 64;
const [short, long, byte, ascii, rational, signedRational] = [3, 4, 1, 2, 5, 10];

const sensor = Buffer.alloc(width * height * 2);
for (let y = 0; y < height; y++) {
  for (let x = 0; x < width; x++) {
    const filter = y % 2 === 0 ? (x % 2 === 0 ? 'red' : 'green') : x % 2 === 0 ? 'green' : 'blue';
    const lit = x < width / 2 ? 'red' : 'blue';
    sensor.writeUInt16LE(filter === lit ? 40_000 : filter === 'green' ? 6000 : 2000, (y * width + x) * 2);
  }
}

function ratios(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) {
    bytes.writeInt32LE(Math.round(value * 10_000), index * 8);
    bytes.writeInt32LE(10_000, index * 8 + 4);
  }
  return bytes;
}
const shorts = (...values: number[]) => Buffer.from(new Uint16Array(values).buffer);
const longs = (...values: number[]) => Buffer.from(new Uint32Array(values).buffer);

const model = Buffer.from('Millrun Test\0', 'latin1');
// XYZ to the sensor's colours: the inverse of sRGB's own matrix, as if the sensor saw sRGB.
const matrix = [3.2406, -1.5372, -0.4986, -0.9689, 1.8758, 0.0415, 0.0557, -0.204, 1.057];
const tags: [number, number, number, Buffer][] = [
  [254, long, 1, longs(0)],
  [256, long, 1, longs(width)],
  [257, long, 1, longs(height)],
  [258, short, 1, shorts(16)],
  [259, short, 1, shorts(1)],
  [262, short, 1, shorts(32803)],
  [271, ascii, 8, Buffer.from('Millrun\0', 'latin1')],
  [272, ascii, model.length, model],
  [273, long, 1, longs(0)],
  [274, short, 1, shorts(1)],
  [277, short, 1, shorts(1)],
  [278, long, 1, longs(height)],
  [279, long, 1, longs(sensor.length)],
  [284, short, 1, shorts(1)],
  [33421, short, 2, shorts(2, 2)],
  [33422, byte, 4, Buffer.from([0, 1, 1, 2])],
  [50706, byte, 4, Buffer.from([1, 4, 0, 0])],
  [50708, ascii, model.length, model],
  [50714, short, 1, shorts(0)],
  [50717, long, 1, longs(65_535)],
  [50721, signedRational, 9, ratios(matrix)],
  [50728, rational, 3, ratios([1, 1, 1])],
  [50778, short, 1, shorts(21)],
];

const headLength = 8 + 2 + tags.length * 12 + 4;
const head = Buffer.alloc(headLength + tags.reduce((sum, tag) => sum + (tag[3].length > 4 ? tag[3].length : 0), 0));
head.write('II*\0', 0, 'latin1');
head.writeUInt32LE(8, 4);
head.writeUInt16LE(tags.length, 8);
let tail = headLength;
for (const [index, [tag, type, count, value]] of tags.entries()) {
  const at = 10 + index * 12;
  head.writeUInt16LE(tag, at);
  head.writeUInt16LE(type, at + 2);
  head.writeUInt32LE(count, at + 4);
  if (tag === 273) head.writeUInt32LE(head.length, at + 8);
  else if (value.length <= 4) value.copy(head, at + 8);
  else {
    head.writeUInt32LE(tail, at + 8);
    value.copy(head, tail);
    tail += value.length;
  }
}
await writeFile(new URL('fixtures/photo.dng', import.meta.url), Buffer.concat([head, sensor]));
