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

const graphicControl = 0xf9;
const controlFlags = { transparent: 0x01, disposal: 0x1c, toBackground: 2 << 2 };
const noColorsIndex = 255;

/**
 * A frame that is to be cleared away leaves nothing, as every browser shows it; libvips leaves the background colour there
 * when the frame has no transparent colour. Gives such frames one that no pixel has. A frame of more than 128 colours may use
 * them all, and stays as it is.
 *
 * @returns undefined for a GIF without such frames
 */
export function withClearingFrames(bytes: Buffer): Buffer | undefined {
  let changed: Buffer | undefined;
  let control = -1;
  for (let at = 13 + colorTableLength(bytes[10] ?? 0); at < bytes.length;) {
    if (bytes[at] === extension) {
      if (bytes[at + 1] === graphicControl) control = at + 3;
      at = afterSubBlocks(bytes, at + 2);
    } else if (bytes[at] === imageDescriptor) {
      if (control > 0 && leavesBackground(bytes[control] ?? 0) && codeSize(bytes, at) < 8) {
        changed ??= Buffer.from(bytes);
        changed[control] = (bytes[control] ?? 0) | controlFlags.transparent;
        changed[control + 3] = noColorsIndex;
      }
      control = -1;
      at = afterImage(bytes, at);
    } else break;
  }
  return changed;
}

function leavesBackground(flags: number): boolean {
  return (flags & controlFlags.disposal) === controlFlags.toBackground && (flags & controlFlags.transparent) === 0;
}

/** Bits of a pixel in the image at `at`. */
function codeSize(bytes: Buffer, at: number): number {
  return bytes[at + 10 + colorTableLength(bytes[at + 9] ?? 0)] ?? 0;
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
