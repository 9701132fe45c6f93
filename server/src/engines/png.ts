import { crc32 } from 'node:zlib';

export const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** One chunk: length, type, content, checksum (PNG specification, section 5.3). */
export function pngChunk(type: string, content: Uint8Array): Buffer {
  const chunk = Buffer.alloc(12 + content.length);
  chunk.writeUInt32BE(content.length, 0);
  chunk.write(type, 4, 'latin1');
  chunk.set(content, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + content.length)), 8 + content.length);
  return chunk;
}

/** The contents of all chunks of one type, in order. */
export function pngContents(png: Buffer, wanted: string): Buffer[] {
  const contents: Buffer[] = [];
  for (let at = pngSignature.length; at + 12 <= png.length;) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === wanted) contents.push(png.subarray(at + 8, at + 8 + length));
    at += 12 + length;
  }
  return contents;
}

/** Most bytes of a stored block of Deflate. */
const storedLength = 0xffff;

/**
 * Rows of bytes as a zlib stream that stores them, each behind the byte that says a PNG row is not filtered: as fast as
 * copying, for files that are read again at once.
 */
export function storedRows(data: Uint8Array, rowLength: number): Buffer {
  const rows = data.length / rowLength;
  const blocksPerRow = Math.ceil((rowLength + 1) / storedLength);
  const stream = Buffer.alloc(2 + rows * (rowLength + 1 + 5 * blocksPerRow) + 5 + 4);
  stream.writeUInt16BE(0x7801, 0);
  let at = 2;
  let [low, high] = [1, 0]; // Adler-32.
  const line = Buffer.alloc(rowLength + 1);
  for (let row = 0; row < rows; row++) {
    line.set(data.subarray(row * rowLength, (row + 1) * rowLength), 1);
    for (let index = 0; index < line.length;) {
      // As many bytes as cannot overflow a sum of 32 bits.
      const end = Math.min(line.length, index + 3800);
      for (; index < end; index++) {
        low += line[index] ?? 0;
        high += low;
      }
      low %= 65_521;
      high %= 65_521;
    }
    for (let from = 0; from < line.length; from += storedLength) {
      const block = line.subarray(from, from + storedLength);
      stream.writeUInt16LE(block.length, at + 1);
      stream.writeUInt16LE(block.length ^ 0xffff, at + 3);
      stream.set(block, at + 5);
      at += 5 + block.length;
    }
  }
  stream[at] = 1; // The last block, which is empty.
  stream.writeUInt16LE(0xffff, at + 3);
  stream.writeUInt32BE(((high << 16) | low) >>> 0, at + 5);
  return stream;
}

/** One frame of an animation: a PNG, and how long it shows. */
export interface ApngFrame {
  png: Buffer;
  /** Milliseconds. */
  delay: number;
}

/**
 * An animated PNG (PNG specification, third edition) of frames that replace each other. All must have been encoded alike:
 * the same size, colour type and depth, not interlaced.
 *
 * @param plays how often it plays; 0 is for ever
 */
export function encodeApng(frames: readonly ApngFrame[], plays: number): Buffer {
  const [header] = pngContents(frames[0]?.png ?? Buffer.alloc(0), 'IHDR');
  if (header === undefined) throw new Error('an animation of nothing');
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  control.writeUInt32BE(plays, 4);
  const chunks = [pngSignature, pngChunk('IHDR', header), pngChunk('acTL', control)];
  let sequence = 0;
  for (const [index, { png, delay }] of frames.entries()) {
    chunks.push(pngChunk('fcTL', frameControl(sequence++, header, delay)));
    for (const data of pngContents(png, 'IDAT')) {
      if (index === 0) chunks.push(pngChunk('IDAT', data));
      else chunks.push(pngChunk('fdAT', numbered(sequence++, data)));
    }
  }
  return Buffer.concat([...chunks, pngChunk('IEND', Buffer.alloc(0))]);
}

function frameControl(sequence: number, header: Buffer, delay: number): Buffer {
  const content = Buffer.alloc(26);
  content.writeUInt32BE(sequence, 0);
  header.copy(content, 4, 0, 8); // Width and height; the frame starts at the top left.
  content.writeUInt16BE(delay, 20);
  content.writeUInt16BE(1000, 22);
  return content;
}

function numbered(sequence: number, data: Buffer): Buffer {
  const number = Buffer.alloc(4);
  number.writeUInt32BE(sequence);
  return Buffer.concat([number, data]);
}
