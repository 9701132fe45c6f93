import type { VideoStream } from './probe.ts';

export interface PictureSize {
  width: number;
  height: number;
}

/** How large a picture is shown: upright, in square pixels. */
export function shownSize({ width, height, pixelAspect }: VideoStream): PictureSize {
  // Wider pixels make the picture wider, narrower ones make it taller: nothing of its resolution is lost.
  if (pixelAspect >= 1) return { width: Math.round(width * pixelAspect), height };
  return { width, height: Math.round(height / pixelAspect) };
}

/** Codecs store colours for two by two pixels: sides are even, at least 2. */
export function even(pixels: number): number {
  return Math.max(2, Math.round(pixels / 2) * 2);
}

export function evenSize({ width, height }: PictureSize): PictureSize {
  return { width: even(width), height: even(height) };
}

/** The size of a picture scaled to one side or into both; what is not given follows from the other. */
export function fitSize(shown: PictureSize, width: number | undefined, height: number | undefined): PictureSize {
  const scale = Math.min(
    width === undefined ? Infinity : width / shown.width,
    height === undefined ? Infinity : height / shown.height,
  );
  if (scale === Infinity) return evenSize(shown);
  return evenSize({ width: shown.width * scale, height: shown.height * scale });
}

const hdrToSdr = (transfer: string) =>
  [
    // What a file leaves out is what its kind of HDR has always.
    `zscale=tin=${transfer}:pin=bt2020:min=bt2020nc:t=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=p=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=t=bt709:m=bt709:r=tv',
  ].join(',');

/** What comes before any work on a picture: whole frames instead of half ones. */
export function openingFilters({ isInterlaced }: VideoStream): string[] {
  return isInterlaced ? ['bwdif=mode=send_frame'] : [];
}

export interface Finish {
  /** Even sides. */
  size: PictureSize;
  /** Ten bits a channel and their range of brightness are kept where the picture has them. */
  keepDepth?: boolean;
}

/** What comes last: square pixels, the size, and colours every player shows. */
export function closingFilters(
  { isHdr, transfer, pixelFormat }: VideoStream,
  { size, keepDepth = false }: Finish,
): string[] {
  const isDeep = /p(1[0246])(le|be)?$|^p01/.test(pixelFormat);
  const scale = `scale=${size.width}:${size.height}:flags=bicubic`;
  if (keepDepth && isDeep) return [scale, 'setsar=1', 'format=yuv420p10le'];
  const tones = isHdr && transfer !== undefined ? [hdrToSdr(transfer)] : [];
  return [scale, ...tones, 'setsar=1', 'format=yuv420p'];
}
