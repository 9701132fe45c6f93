import { stat } from 'node:fs/promises';
import { writeZip, yazl } from '../../engines/archives.ts';
import { makeFavicons, masterEdge } from '../../engines/favicon.ts';
import { openImage } from '../../engines/images.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { dpiForSide } from '../../engines/svg.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { color, int, type Values } from '../settings.ts';

const settings = {
  background: color({ transparent: true, default: 'transparent', describe: 'Colour behind the image.' }),
  padding: int({ min: 0, max: 49, default: 0, describe: 'Space around the image, in per cent of the edge.' }),
  radius: int({
    min: 0,
    max: 50,
    default: 0,
    describe: 'Rounds the corners, in per cent of the edge: 50 is a circle.',
  }),
};

export default defineTool({
  slug: 'favicon-generator',
  name: 'Favicon Generator',
  category: 'image',
  description: 'Makes the icons of a web site from an image: ICO, PNG in all usual sizes, manifest and HTML.',
  accepts: ['png', 'svg', 'jpeg', 'webp'],
  produces: ['zip'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [sharpEngine, yazl],
  settings,
  run: (context) => eachInput(context, (input) => generate(input, context)),
});

async function generate(input: InputFile, context: ToolContext<Values<typeof settings>>): Promise<void> {
  const opened = await openImage(input, context, { animated: false });
  // A drawing is rasterised as large as the largest icon needs.
  const dpi = dpiForSide(opened, masterEdge);
  const image = input.type === 'svg' ? await openImage(input, context, { dpi }) : opened;
  const files = await makeFavicons(image, context.settings);
  const entries = await Promise.all(
    files.map(async ({ name, path }) => ({ name, path, sizeBytes: (await stat(path)).size })),
  );
  const name = `${input.stem}-favicon.zip`;
  await writeZip(context.output(name), entries, { level: 9, signal: context.signal, onBytes: () => undefined });
}
