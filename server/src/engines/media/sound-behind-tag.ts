import { open } from 'node:fs/promises';
import type { MediaFile } from '../ffmpeg.ts';

const headerBytes = 10;

/** The file as FLAC or AAC where that is what stands behind an ID3 tag too large to be looked behind at the upload. */
export async function soundBehindTag(file: MediaFile): Promise<MediaFile> {
  if (file.type !== 'mp3') return file;
  const handle = await open(file.path, 'r');
  try {
    const header = Buffer.alloc(headerBytes);
    await handle.read(header, 0, headerBytes, 0);
    if (header.toString('latin1', 0, 3) !== 'ID3') return file;
    // Seven bits in each byte.
    const length = header.subarray(6).reduce((sum, byte) => sum * 128 + (byte & 0x7f), 0);
    const behind = Buffer.alloc(4);
    await handle.read(behind, 0, behind.length, headerBytes + length);
    if (behind.toString('latin1') === 'fLaC') return { ...file, type: 'flac' };
    // The mark of a frame, and layer 0, which MPEG audio has not.
    const isAdts = behind[0] === 0xff && ((behind[1] ?? 0) & 0xf6) === 0xf0;
    return isAdts ? { ...file, type: 'aac' } : file;
  } finally {
    await handle.close();
  }
}
