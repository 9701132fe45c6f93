import { writeFile } from 'node:fs/promises';
import { type OpenImage, openImage, writeImage } from '../../engines/images.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { makeSpriteSheet, spriteCss, spriteJson } from '../../engines/sprite-sheet.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int } from '../settings.ts';

export default defineTool({
  slug: 'sprite-sheet-maker',
  name: 'Sprite Sheet Maker',
  category: 'image',
  description: 'Puts small images on one sheet, with their places as CSS and JSON.',
  accepts: ['png', 'webp'],
  produces: ['png', 'webp', 'css', 'json'],
  files: { min: 2, max: 100 },
  timeoutSeconds: 300,
  engines: [sharpEngine],
  settings: {
    columns: int({ min: 1, max: 64, default: 8, describe: 'Images in a row.' }),
    padding: int({ min: 0, max: 256, default: 0, describe: 'Transparent pixels around each image.' }),
    format: choice({
      of: ['png', 'webp'],
      default: 'png',
      describe: 'The format of the sheet; both keep every pixel.',
    }),
  },
  async run(context) {
    const { columns, padding, format } = context.settings;
    const images: OpenImage[] = [];
    await eachInput(context, async (input) => {
      images.push(await openImage(input, context, { animated: false }));
    });
    const sheet = await makeSpriteSheet(images, { columns, padding });
    const name = `sprites.${extensionOf(format)}`;
    await writeImage(sheet.image, context.output(name), format, { lossless: true });
    await writeFile(context.output('sprites.css'), spriteCss(sheet, name));
    await writeFile(context.output('sprites.json'), `${JSON.stringify(spriteJson(sheet, name), null, 2)}\n`);
  },
});
