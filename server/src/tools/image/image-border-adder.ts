import { addBorder } from '../../engines/image-border.ts';
import { canBeClear, keptFormat } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { color, flag, int } from '../settings.ts';
import { editEach, keepsFormat } from './kept-format.ts';

export default defineTool({
  ...keepsFormat,
  slug: 'image-border-adder',
  name: 'Image Border Adder',
  category: 'image',
  description: 'Puts a border around images, rounds their corners and lays a shadow behind them.',
  settings: {
    width: int({ min: 0, max: 2000, default: 20, describe: 'Width of the border in pixels, added on each side.' }),
    color: color({ default: '#000000', describe: 'Colour of the border.' }),
    radius: int({ min: 0, max: 10_000, default: 0, describe: 'Rounds the outer corners by this many pixels.' }),
    shadow: flag({ default: false, describe: 'Lay a soft shadow behind the image.' }),
    background: color({
      default: '#ffffff',
      describe: 'Shows outside of round corners and under a shadow in formats without transparency (JPEG, BMP).',
    }),
  },
  run: (context) =>
    editEach(
      context,
      (image) => {
        const background = canBeClear(keptFormat(image.file.type)) ? undefined : context.settings.background;
        return addBorder(image, { ...context.settings, background });
      },
      { painted: true },
    ),
});
