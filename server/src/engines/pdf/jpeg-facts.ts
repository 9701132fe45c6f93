/** What a JPEG's headers say of its coding. */
export interface JpegFacts {
  /** Baseline, extended or progressive Huffman coding of 8 bits: what every PDF reader decodes. */
  isCommon: boolean;
  /** An APP14 segment of Adobe's. */
  hasAdobeMarker: boolean;
}

const app14 = 0xee;
const startOfScan = 0xda;

/** Reads the segments up to the first scan; undefined when there is none. */
export function jpegFacts(file: Buffer): JpegFacts | undefined {
  const facts = { isCommon: false, hasAdobeMarker: false };
  for (let at = 2; at + 9 < file.length;) {
    if (file[at] !== 0xff) return undefined;
    const marker = file[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1; // Fill bytes may stand before a marker.
      continue;
    }
    if (marker === startOfScan) return facts;
    if (marker === app14 && file.toString('latin1', at + 4, at + 9) === 'Adobe') facts.hasAdobeMarker = true;
    if (marker >= 0xc0 && marker <= 0xc2) facts.isCommon = file[at + 4] === 8;
    at += 2 + file.readUInt16BE(at + 2);
  }
  return undefined;
}
