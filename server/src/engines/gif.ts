/**
 * Whether a GIF ends in the middle of a block (GIF89a specification, section 12). libvips shows the frames it has and says
 * nothing of the ones it lost. A missing trailer alone is harmless, and common.
 */
export function isGifCutShort(bytes: Buffer): boolean {
  const headerLength = 13;
  if (bytes.length < headerLength) return true;
  let at = headerLength + colorTableLength(bytes[10] ?? 0);
  while (at < bytes.length) {
    const introducer = bytes[at];
    if (introducer === extension) at = afterSubBlocks(bytes, at + 2);
    else if (introducer === imageDescriptor) at = afterImage(bytes, at);
    else return false; // The trailer, or junk behind the last block.
  }
  return at > bytes.length;
}

const extension = 0x21;
const imageDescriptor = 0x2c;

/** Bytes of the colour table that the flags of a screen or an image announce. */
function colorTableLength(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);
}

function afterImage(bytes: Buffer, at: number): number {
  const descriptorLength = 10;
  const codeSizeLength = 1;
  const flags = bytes[at + 9] ?? 0;
  return afterSubBlocks(bytes, at + descriptorLength + colorTableLength(flags) + codeSizeLength);
}

/** The place behind a chain of sub-blocks, which an empty one ends; beyond the file when the file ends before it. */
function afterSubBlocks(bytes: Buffer, start: number): number {
  let at = start;
  for (let length = bytes[at]; length !== 0; length = bytes[at]) {
    if (length === undefined) return bytes.length + 1;
    at += length + 1;
  }
  return at + 1;
}
