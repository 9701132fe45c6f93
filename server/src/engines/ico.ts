import { decodeIconBitmap } from './bmp.ts';
import { brokenImage, type NamedFile } from './image-failure.ts';
import { rasterToTiff } from './raster.ts';

/** Edges of the pictures in an icon that is written: what Windows and browsers ask for. */
export const iconSizes = [16, 24, 32, 48, 64, 128, 256] as const;

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47]);

/**
 * The largest picture of a Windows icon, as a file that libvips reads (PNG or TIFF).
 *
 * @throws Failure `invalid_input` for a damaged icon.
 */
export function largestIconPicture(file: Buffer, named: NamedFile): Buffer {
  const count = file.length >= 6 ? file.readUInt16LE(4) : 0;
  if (count === 0 || file.length < 6 + count * 16) throw brokenImage(named, `icon directory of ${count} entries`);
  const entries = Array.from({ length: count }, (_, index) => {
    const at = 6 + index * 16;
    const edge = file[at] || 256; // 0 stands for 256.
    return {
      edge,
      bits: file.readUInt16LE(at + 6),
      size: file.readUInt32LE(at + 8),
      offset: file.readUInt32LE(at + 12),
    };
  });
  const largest = entries.toSorted((a, b) => b.edge - a.edge || b.bits - a.bits)[0];
  if (largest === undefined || largest.offset + largest.size > file.length)
    throw brokenImage(named, 'entry beyond the end');
  const picture = file.subarray(largest.offset, largest.offset + largest.size);
  return picture.subarray(0, 4).equals(pngSignature) ? picture : rasterToTiff(decodeIconBitmap(picture, named));
}

/** An icon of square PNG pictures, smallest first. */
export function encodeIco(pictures: readonly { edge: number; png: Buffer }[]): Buffer {
  const directory = Buffer.alloc(6 + pictures.length * 16);
  directory.writeUInt16LE(1, 2);
  directory.writeUInt16LE(pictures.length, 4);
  let offset = directory.length;
  for (const [index, { edge, png }] of pictures.entries()) {
    const at = 6 + index * 16;
    directory[at] = edge % 256;
    directory[at + 1] = edge % 256;
    directory.writeUInt16LE(1, at + 4);
    directory.writeUInt16LE(32, at + 6);
    directory.writeUInt32LE(png.length, at + 8);
    directory.writeUInt32LE(offset, at + 12);
    offset += png.length;
  }
  return Buffer.concat([directory, ...pictures.map(({ png }) => png)]);
}
