import type { PictureSize } from './picture.ts';

export const fits = ['contain', 'cover', 'pad', 'blur_pad'] as const;
type Fit = (typeof fits)[number];

/**
 * Filters that bring an upright picture of square pixels into a box of even sides. `contain` needs none: its box has the
 * shape of the picture.
 */
export function fitFilters(fit: Fit, { width, height }: PictureSize): string[] {
  const box = `${width}:${height}`;
  const inside = `scale=${box}:force_original_aspect_ratio=decrease:force_divisible_by=2:flags=bicubic`;
  const outside = `scale=${box}:force_original_aspect_ratio=increase:force_divisible_by=2:flags=bicubic`;
  switch (fit) {
    case 'contain':
      return [];
    case 'cover':
      return [outside, `crop=${box}`];
    case 'pad':
      return [inside, `pad=${box}:-1:-1:color=black`];
    case 'blur_pad': {
      const blurred = `scale=${box}:force_original_aspect_ratio=increase,crop=${box},gblur=sigma=${blurOf(width, height)}:steps=2,eq=brightness=-0.08`;
      return [
        `split[behind][before];[behind]${blurred}[back];[before]${inside}[front];[back][front]overlay=(W-w)/2:(H-h)/2`,
      ];
    }
  }
}

function blurOf(width: number, height: number): number {
  return Math.max(4, Math.round(Math.min(width, height) / 36));
}
