import { assertDecodable } from '../../engines/image-failure.ts';
import { type Size } from '../../engines/image-geometry.ts';
import { imageFrom, withSteps, writeImage } from '../../engines/images.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { drawingSize, openSvg, rsvgConvert, writeSvgPdf } from '../../engines/svg.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, color, int, num, type Values } from '../settings.ts';

const settings = {
  format: choice({
    of: ['png', 'jpeg', 'webp', 'pdf'],
    default: 'png',
    describe: 'The format to return; a PDF stays a drawing.',
  }),
  width: int({ min: 1, max: 16384, describe: 'Width in pixels; without a height the height follows.' }),
  height: int({ min: 1, max: 16384, describe: 'Height in pixels; with a width the drawing goes whole into both.' }),
  scale: num({ min: 0.1, max: 10, default: 1, describe: 'Times its own size, when no width and height are given.' }),
  dpi: int({
    min: 36,
    max: 1200,
    default: 96,
    describe: 'Pixels an inch: a drawing is that much finer than its own 96. A PDF does not need it.',
  }),
  background: color({
    transparent: true,
    default: 'transparent',
    describe: 'Colour behind the drawing; transparent is white in JPEG.',
  }),
  quality: int({ min: 1, max: 100, default: 90, describe: 'Quality of JPEG and WebP.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  slug: 'svg-rasterizer',
  name: 'SVG Rasterizer',
  category: 'image',
  description: 'Turns SVG drawings into PNG, JPEG, WebP or PDF at any size.',
  accepts: ['svg', 'svgz'],
  produces: ['png', 'jpeg', 'webp', 'pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [sharpEngine],
  optionalEngines: [rsvgConvert, pdfium],
  enginesFor: ({ format }) => (format === 'pdf' ? [rsvgConvert, pdfium] : []),
  settings,
  run: (context) =>
    eachInput(context, (input) =>
      context.settings.format === 'pdf' ? toPdf(input, context) : toImage(input, context),
    ),
});

/** How large the drawing becomes, and the canvas around it. */
function sizes(own: Size, { width, height, scale }: Settings, finer: number): { drawn: Size; canvas: Size } {
  const factor =
    width === undefined && height === undefined
      ? scale * finer
      : Math.min((width ?? Infinity) / own.width, (height ?? Infinity) / own.height);
  const side = (length: number) => Math.max(1, Math.round(length * factor));
  const drawn = { width: side(own.width), height: side(own.height) };
  return { drawn, canvas: { width: width ?? drawn.width, height: height ?? drawn.height } };
}

async function toImage(input: InputFile, context: ToolContext<Settings>): Promise<void> {
  const { settings: chosen } = context;
  const format = chosen.format === 'pdf' ? 'png' : chosen.format;
  const own = await drawingSize(input.path, input);
  const { drawn, canvas } = sizes(own, chosen, chosen.dpi / 96);
  assertDecodable(input, canvas);
  const dpi = Math.max((96 * drawn.width) / own.width, (96 * drawn.height) / own.height);
  const image = await imageFrom(await openSvg(input.path, input, dpi), input, context);
  const background = chosen.background === 'transparent' ? '#00000000' : chosen.background;
  const placed = withSteps(image, (pipeline) => {
    const fitted = pipeline.resize(canvas.width, canvas.height, { fit: 'contain', background });
    return chosen.background === 'transparent' ? fitted : fitted.flatten({ background });
  });
  const path = context.output(`${input.stem}.${extensionOf(format)}`);
  await writeImage(placed, path, format, { quality: chosen.quality, dpi: chosen.dpi, background: '#ffffff' });
}

async function toPdf(input: InputFile, context: ToolContext<Settings>): Promise<void> {
  const { settings: chosen, scratch, signal } = context;
  const { drawn, canvas } = sizes(await drawingSize(input.path, input), chosen, 1);
  const background = chosen.background === 'transparent' ? undefined : chosen.background;
  const place = { left: (canvas.width - drawn.width) / 2, top: (canvas.height - drawn.height) / 2 };
  const path = context.output(`${input.stem}.pdf`);
  await writeSvgPdf(input.path, input, { ...canvas, drawing: { ...place, ...drawn }, background }, { path, signal });
  const pages = await readPdf({ path, filename: input.filename, scratch }, async ({ pageCount }) => pageCount);
  if (pages === 1) return;
  throw new Failure('engine_failed', `"${input.filename}" could not be drawn.`, {
    file: input.filename,
    log: `${pages} pages`,
  });
}
