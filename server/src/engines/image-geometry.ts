/** The nine places of a frame, as people say them. */
export const gridPositions = [
  'top-left',
  'top',
  'top-right',
  'left',
  'center',
  'right',
  'bottom-left',
  'bottom',
  'bottom-right',
] as const;
export type GridPosition = (typeof gridPositions)[number];

export interface Size {
  width: number;
  height: number;
}
export interface Box extends Size {
  left: number;
  top: number;
}

/** Where `inner` goes inside `outer`, `margin` pixels away from the edges it touches. Whole pixels. */
export function placeInGrid(
  position: GridPosition,
  outer: Size,
  inner: Size,
  margin = 0,
): { left: number; top: number } {
  const along = (words: readonly [string, string], room: number): number => {
    if (position.includes(words[0])) return margin;
    if (position.includes(words[1])) return room - margin;
    return Math.round(room / 2);
  };
  return {
    left: along(['left', 'right'], outer.width - inner.width),
    top: along(['top', 'bottom'], outer.height - inner.height),
  };
}

/** The part of `box` that lies on the image, or undefined when none does. */
export function clampToImage(box: Box, image: Size): Box | undefined {
  const left = Math.max(0, box.left);
  const top = Math.max(0, box.top);
  const width = Math.min(image.width, box.left + box.width) - left;
  const height = Math.min(image.height, box.top + box.height) - top;
  return width >= 1 && height >= 1 ? { left, top, width, height } : undefined;
}

/** Reads `16:9`, `4/3` or `1.5` as width over height; undefined when it is none of them or not positive. */
export function parseAspectRatio(text: string): number | undefined {
  const match = /^(\d{1,5}(?:\.\d{1,6})?)(?:[:/x](\d{1,5}(?:\.\d{1,6})?))?$/.exec(text);
  if (match === null) return undefined;
  const ratio = Number(match[1]) / Number(match[2] ?? '1');
  return Number.isFinite(ratio) && ratio > 0 ? ratio : undefined;
}

/** The largest size of a ratio (width over height) that fits. */
export function largestOfRatio(ratio: number, room: Size): Size {
  const width = Math.min(room.width, room.height * ratio);
  return { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(width / ratio)) };
}
