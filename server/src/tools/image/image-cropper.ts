import { cropToSubject } from '../../engines/image-crop.ts';
import {
  type Box,
  type Size,
  clampToImage,
  gridPositions,
  largestOfRatio,
  parseAspectRatio,
  placeInGrid,
} from '../../engines/image-geometry.ts';
import { type OpenImage, withSteps } from '../../engines/images.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool } from '../define.ts';
import { choice, num, text, type Values } from '../settings.ts';
import { editEach, keepsFormat } from './kept-format.ts';

const settings = {
  x: num({ min: 0, max: 100_000, describe: 'Left edge of what stays; without it gravity decides.' }),
  y: num({ min: 0, max: 100_000, describe: 'Top edge of what stays; without it gravity decides.' }),
  width: num({ min: 0.01, max: 100_000, describe: 'Width of what stays.' }),
  height: num({ min: 0.01, max: 100_000, describe: 'Height of what stays.' }),
  unit: choice({
    of: ['px', 'percent'],
    default: 'px',
    describe: 'Whether x, y, width and height are pixels or per cent of the image.',
  }),
  aspect_ratio: text({
    max: 20,
    describe: 'Width to height, such as 16:9, instead of one or both of them; alone, the largest such part.',
  }),
  strategy: choice({
    of: ['manual', 'attention', 'entropy'],
    default: 'manual',
    describe: 'Where the part lies: where x, y or gravity say, on what draws the eye, or on what holds most detail.',
  }),
  gravity: choice({ of: gridPositions, default: 'center', describe: 'Where the part lies when x or y is not given.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  ...keepsFormat,
  slug: 'image-cropper',
  name: 'Image Cropper',
  category: 'image',
  description: 'Cuts images down to a part, given by hand, by aspect ratio or found by what it shows.',
  settings,
  check: checkSettings,
  run: (context) => editEach(context, (image) => crop(image, context.settings)),
});

function checkSettings({ x, y, width, height, aspect_ratio, unit, strategy }: Settings): FieldErrors {
  if (width === undefined && height === undefined && aspect_ratio === undefined) {
    return { width: ['is required when neither height nor aspect_ratio is given'] };
  }
  if (aspect_ratio !== undefined && parseAspectRatio(aspect_ratio) === undefined) {
    return { aspect_ratio: ['must be two numbers such as 16:9'] };
  }
  if (aspect_ratio !== undefined && width !== undefined && height !== undefined) {
    return { aspect_ratio: ['cannot be combined with both width and height'] };
  }
  if (strategy !== 'manual' && (x !== undefined || y !== undefined)) {
    return { strategy: [`${strategy} finds the place itself: leave out x and y`] };
  }
  if (unit === 'px') return {};
  const above = Object.entries({ x, y, width, height }).filter(([, value]) => (value ?? 0) > 100);
  return Object.fromEntries(above.map(([name]) => [name, ['must be at most 100 when unit is percent']]));
}

async function crop(image: OpenImage, settings: Settings): Promise<OpenImage> {
  const size = cropSize(image, settings);
  const box =
    settings.strategy === 'manual'
      ? placedBox(image, size, settings)
      : await cropToSubject(image, size, settings.strategy);
  return withSteps(image, (pipeline) => pipeline.extract(box), { width: box.width, height: box.height });
}

/** The asked size in pixels; a side that follows from nothing is the image's own. */
function cropSize(image: Size, { width, height, unit, aspect_ratio }: Settings): Size {
  const pixels = (value: number | undefined, whole: number) =>
    value === undefined ? undefined : unit === 'percent' ? (value / 100) * whole : value;
  const asked = { width: pixels(width, image.width), height: pixels(height, image.height) };
  const ratio = aspect_ratio === undefined ? undefined : parseAspectRatio(aspect_ratio);
  if (ratio !== undefined) {
    const room = { width: asked.width ?? image.width, height: asked.height ?? image.height };
    if (asked.width !== undefined) room.height = asked.width / ratio;
    if (asked.height !== undefined) room.width = asked.height * ratio;
    return largestOfRatio(ratio, room);
  }
  return {
    width: Math.max(1, Math.round(asked.width ?? image.width)),
    height: Math.max(1, Math.round(asked.height ?? image.height)),
  };
}

/** A part that reaches over an edge ends at the edge; one that lies outside altogether is a mistake worth telling. */
function placedBox(image: OpenImage, size: Size, { x, y, unit, gravity }: Settings): Box {
  const within = { width: Math.min(size.width, image.width), height: Math.min(size.height, image.height) };
  const placed = placeInGrid(gravity, image, within);
  const pixels = (value: number, whole: number) => Math.round(unit === 'percent' ? (value / 100) * whole : value);
  const left = x === undefined ? placed.left : pixels(x, image.width);
  const top = y === undefined ? placed.top : pixels(y, image.height);
  const box = clampToImage({ left, top, ...size }, image);
  if (box !== undefined) return box;
  const { filename } = image.file;
  throw new Failure(
    'invalid_input',
    `The part starting at ${left}, ${top} lies outside "${filename}", which is ${image.width} x ${image.height} pixels.`,
    { file: filename },
  );
}
