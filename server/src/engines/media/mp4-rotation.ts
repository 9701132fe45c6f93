import { open, type FileHandle } from 'node:fs/promises';

interface Box {
  type: string;
  /** Where its content begins, and where it ends. */
  start: number;
  end: number;
}

/** 16.16 and, in the last column, 2.30 fixed point: the sides of a picture, and where its corner comes to lie. */
type Matrix = [number, number, number, number, number, number, number, number, number];

function matrixOf(degrees: number, width: number, height: number): Matrix {
  const one = 0x10000;
  const last = 0x40000000;
  switch (degrees) {
    case 90:
      return [0, one, 0, -one, 0, 0, height * one, 0, last];
    case 180:
      return [-one, 0, 0, 0, -one, 0, width * one, height * one, last];
    case 270:
      return [0, -one, 0, one, 0, 0, 0, width * one, last];
    default:
      return [one, 0, 0, 0, one, 0, 0, 0, last];
  }
}

/**
 * Says in an MP4, MOV or 3GP file by how much players turn its picture; nothing else changes. `degrees` is 0, 90, 180 or
 * 270 clockwise; width and height are those of the stored picture. @returns false when the file has no such place.
 */
export async function setRotation(path: string, degrees: number, width: number, height: number): Promise<boolean> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const movie = await find(file, 'moov', 0, size);
    if (movie === undefined) return false;
    for (const track of await boxes(file, movie.start, movie.end)) {
      if (track.type !== 'trak' || !(await isVideo(file, track))) continue;
      const header = await find(file, 'tkhd', track.start, track.end);
      if (header === undefined) return false;
      const [version] = await read(file, header.start, 1);
      const bytes = Buffer.alloc(36);
      matrixOf(degrees, width, height).forEach((value, index) => bytes.writeInt32BE(value, index * 4));
      // Times and lengths before it are of 64 bits in version 1.
      await file.write(bytes, 0, bytes.length, header.start + (version === 1 ? 52 : 40));
      return true;
    }
    return false;
  } finally {
    await file.close();
  }
}

async function isVideo(file: FileHandle, track: Box): Promise<boolean> {
  const media = await find(file, 'mdia', track.start, track.end);
  const handler = media === undefined ? undefined : await find(file, 'hdlr', media.start, media.end);
  return handler !== undefined && (await read(file, handler.start + 8, 4)).toString('latin1') === 'vide';
}

async function find(file: FileHandle, type: string, from: number, to: number): Promise<Box | undefined> {
  return (await boxes(file, from, to)).find((box) => box.type === type);
}

async function boxes(file: FileHandle, from: number, to: number): Promise<Box[]> {
  const found: Box[] = [];
  let at = from;
  while (at + 8 <= to) {
    const header = await read(file, at, 16);
    const short = header.readUInt32BE(0);
    const size = short === 1 ? Number(header.readBigUInt64BE(8)) : short === 0 ? to - at : short;
    const head = short === 1 ? 16 : 8;
    if (size < head) break;
    found.push({ type: header.toString('latin1', 4, 8), start: at + head, end: Math.min(to, at + size) });
    at += size;
  }
  return found;
}

async function read(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  await file.read(bytes, 0, length, at);
  return bytes;
}
