import { open } from 'node:fs/promises';
import type { FileTypeId } from '../../lib/media-types.ts';

/** Sizes that programs write before they know the real one, or that say it stands elsewhere (RF64). */
const smallestUnknown = 0x7fff_0000;
/** Writers disagree whether padding and the header itself count. */
const slackBytes = 64;

/**
 * Whether a WAV or AIFF says that it is longer than it is. FFmpeg takes the file's end for the end of the sound; other
 * formats state their length in a way it compares itself.
 */
export async function isShorterThanStated(path: string, type: FileTypeId): Promise<boolean> {
  if (type !== 'wav' && type !== 'aiff') return false;
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, 0);
    if (bytesRead < 8) return false;
    const stated = type === 'wav' ? buffer.readUInt32LE(4) : buffer.readUInt32BE(4);
    const { size } = await file.stat();
    return stated < smallestUnknown && stated > size + slackBytes;
  } finally {
    await file.close();
  }
}
