/** What is looked at of a file: its first and its last 64 kB, which overlap when it is smaller than both together. */
export interface ContentSample {
  head: Buffer;
  tail: Buffer;
  /** Of the whole file, in bytes. */
  size: number;
}

/** Bytes kept of either end of a file. */
export const sampleLength = 64 * 1024;

/** Nothing at all was sent: no format, and worth a sentence of its own to the caller. */
export function isEmpty(sample: Pick<ContentSample, 'size'>): boolean {
  return sample.size === 0;
}

/** Takes a sample of bytes that stream past. What is pushed is copied, so that a caller may reuse its buffer. */
export function createSampler(): { push(chunk: Uint8Array): void; sample(): ContentSample } {
  const head = Buffer.allocUnsafe(sampleLength);
  /** The last bytes in a ring that starts at `size % sampleLength`; only made for files that outgrow the head. */
  let ring: Buffer | undefined;
  let size = 0;

  function pushToRing(chunk: Uint8Array, into: Buffer): void {
    const skipped = Math.max(0, chunk.length - sampleLength);
    const end = chunk.subarray(skipped);
    const at = (size + skipped) % sampleLength;
    const untilWrap = Math.min(end.length, sampleLength - at);
    into.set(end.subarray(0, untilWrap), at);
    into.set(end.subarray(untilWrap), 0);
  }

  return {
    push(chunk) {
      if (size < sampleLength) head.set(chunk.subarray(0, sampleLength - size), size);
      if (size + chunk.length > sampleLength) {
        ring ??= Buffer.from(head);
        pushToRing(chunk, ring);
      }
      size += chunk.length;
    },
    sample() {
      if (ring === undefined) {
        const whole = head.subarray(0, size);
        return { head: whole, tail: whole, size };
      }
      const start = size % sampleLength;
      return { head, tail: Buffer.concat([ring.subarray(start), ring.subarray(0, start)]), size };
    },
  };
}

/** The bytes at a file offset where the sample covers all of them. */
export function bytesAt({ head, tail, size }: ContentSample, offset: number, length: number): Buffer | undefined {
  if (offset + length <= head.length) return head.subarray(offset, offset + length);
  const inTail = offset - (size - tail.length);
  if (inTail >= 0 && inTail + length <= tail.length) return tail.subarray(inTail, inTail + length);
  return undefined;
}

/** Bytes as characters, as far as there are any. */
export function latin1(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('latin1', start, end);
}
