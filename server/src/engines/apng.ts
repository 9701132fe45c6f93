import { writeFile } from 'node:fs/promises';
import { assertDecodable, brokenImage, type NamedFile } from './image-failure.ts';
import type { Pixels } from './images.ts';
import { pngWithGammaProfile } from './png-gamma.ts';
import { type ApngFrame, encodeApng, pngChunk, pngSignature } from './png.ts';
import { loadSharp, openWithSharp } from './sharp.ts';

/** Writes frames as an animated PNG that keeps every pixel. */
export async function writeApng(
  frames: readonly Pixels[],
  { delay, loop }: { delay: readonly number[]; loop: number },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const sharp = await loadSharp();
  const encoded: ApngFrame[] = [];
  for (const [index, { data, width, height }] of frames.entries()) {
    signal.throwIfAborted();
    const png = await sharp(data, { raw: { width, height, channels: 4 } })
      .png({ palette: false })
      .toBuffer();
    encoded.push({ png, delay: delay[index] ?? 100 });
  }
  await writeFile(path, encodeApng(encoded, loop));
}

/** The frames of an animated PNG as they are shown, one below the other. */
export interface DecodedApng extends Pixels {
  frames: number;
  timing: { delay: number[]; loop: number };
}

/** A frame as it is stored: a part of the picture, and what is done with it. */
interface StoredFrame {
  width: number;
  height: number;
  left: number;
  top: number;
  /** Milliseconds. */
  delay: number;
  disposal: number;
  blend: number;
  data: Buffer[];
}

const disposals = { background: 1, previous: 2 };
const blendOver = 1;
/** Chunks that are about the one picture or the animation; the others before the pixels hold for every frame. */
const ownChunks = new Set(['IHDR', 'acTL', 'fcTL', 'IDAT', 'fdAT', 'IEND']);

/**
 * The frames of an animated PNG (PNG specification, third edition), each as a whole picture in sRGB: libvips knows only the
 * picture that stands for the animation where it cannot be played.
 *
 * @returns undefined for a PNG that does not move, or whose animation contradicts itself: viewers show its one picture
 * @throws Failure `invalid_input` for a file cut short, `resource_limit`
 */
export async function decodeApng(
  file: Buffer,
  named: NamedFile,
  signal: AbortSignal,
): Promise<DecodedApng | undefined> {
  const { header, shared, stored, loop } = readChunks(file, named);
  if (header === undefined || stored.length < 2) return undefined;
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const fits = (frame: StoredFrame) =>
    frame.width > 0 && frame.height > 0 && frame.left + frame.width <= width && frame.top + frame.height <= height;
  if (!stored.every((frame) => fits(frame) && frame.data.length > 0)) return undefined;
  assertDecodable(named, { width, height, frames: stored.length });
  const pageBytes = width * height * 4;
  const data = Buffer.alloc(pageBytes * stored.length);
  let canvas = Buffer.alloc(pageBytes);
  for (const [index, frame] of stored.entries()) {
    signal.throwIfAborted();
    const before = frame.disposal === disposals.previous ? Buffer.from(canvas) : canvas;
    draw(await pixelsOf(frame, header, shared), frame, canvas, width);
    canvas.copy(data, index * pageBytes);
    // There is nothing to go back to before the first frame.
    if (frame.disposal === disposals.background || (frame.disposal === disposals.previous && index === 0))
      clear(frame, canvas, width);
    else canvas = before;
  }
  const delay = stored.map((frame) => frame.delay);
  return { data, width, height, frames: stored.length, timing: { delay, loop } };
}

function readChunks(file: Buffer, named: NamedFile) {
  const shared: Buffer[] = [];
  const stored: StoredFrame[] = [];
  let header: Buffer | undefined;
  let loop = 0;
  for (let at = pngSignature.length; at < file.length;) {
    const end = at + 12 <= file.length ? at + 12 + file.readUInt32BE(at) : Infinity;
    if (end > file.length) break;
    const type = file.toString('latin1', at + 4, at + 8);
    const content = file.subarray(at + 8, end - 4);
    if (type === 'IEND') return { header, shared, stored, loop };
    if (type === 'IHDR') header = content;
    else if (type === 'acTL' && content.length >= 8) loop = content.readUInt32BE(4);
    else if (type === 'fcTL' && content.length >= 26) stored.push(readControl(content));
    else if (type === 'IDAT') stored.at(-1)?.data.push(content); // Without a control before it, it is no frame.
    else if (type === 'fdAT') stored.at(-1)?.data.push(content.subarray(4));
    else if (!ownChunks.has(type)) shared.push(file.subarray(at, end));
    at = end;
  }
  // What does not move is judged by its decoder.
  if (stored.length > 1) throw brokenImage(named, 'no end of the image');
  return { header, shared, stored, loop };
}

function readControl(content: Buffer): StoredFrame {
  const [width = 0, height = 0, left = 0, top = 0] = [4, 8, 12, 16].map((at) => content.readUInt32BE(at));
  const milliseconds = Math.round((content.readUInt16BE(20) * 1000) / (content.readUInt16BE(22) || 100));
  // Every browser takes less than a hundredth of a second for an oversight.
  const delay = milliseconds <= 10 ? 100 : milliseconds;
  return { width, height, left, top, delay, disposal: content.readUInt8(24), blend: content.readUInt8(25), data: [] };
}

async function pixelsOf(frame: StoredFrame, header: Buffer, shared: readonly Buffer[]): Promise<Buffer> {
  const size = Buffer.from(header);
  size.writeUInt32BE(frame.width, 0);
  size.writeUInt32BE(frame.height, 4);
  const data = frame.data.map((content) => pngChunk('IDAT', content));
  const end = pngChunk('IEND', Buffer.alloc(0));
  const png = Buffer.concat([pngSignature, pngChunk('IHDR', size), ...shared, ...data, end]);
  const image = await openWithSharp(pngWithGammaProfile(png) ?? png);
  return image.toColourspace('srgb').ensureAlpha().raw().toBuffer();
}

/** Where the rows of a frame start on the canvas. */
function rowsOn({ left, top, height }: StoredFrame, width: number): number[] {
  return Array.from({ length: height }, (_, row) => ((top + row) * width + left) * 4);
}

function draw(pixels: Buffer, frame: StoredFrame, canvas: Buffer, width: number): void {
  const rowBytes = frame.width * 4;
  for (const [row, to] of rowsOn(frame, width).entries()) {
    const line = pixels.subarray(row * rowBytes, (row + 1) * rowBytes);
    if (frame.blend === blendOver) drawOver(line, canvas.subarray(to, to + rowBytes));
    else line.copy(canvas, to);
  }
}

/** RGBA over RGBA, neither premultiplied. */
function drawOver(line: Buffer, below: Buffer): void {
  for (let at = 0; at < line.length; at += 4) {
    const alpha = line[at + 3] ?? 0;
    if (alpha === 0) continue;
    const share = ((below[at + 3] ?? 0) * (255 - alpha)) / 255;
    const sum = alpha + share;
    for (let color = at; color < at + 3; color++)
      below[color] = Math.round(((line[color] ?? 0) * alpha + (below[color] ?? 0) * share) / sum);
    below[at + 3] = Math.round(sum);
  }
}

function clear(frame: StoredFrame, canvas: Buffer, width: number): void {
  for (const to of rowsOn(frame, width)) canvas.fill(0, to, to + frame.width * 4);
}
