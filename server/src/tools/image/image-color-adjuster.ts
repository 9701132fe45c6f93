import { adjustColors } from '../../engines/image-adjust.ts';
import { defineTool } from '../define.ts';
import { int, num } from '../settings.ts';
import { editEach, keepsFormat } from './kept-format.ts';

export default defineTool({
  ...keepsFormat,
  slug: 'image-color-adjuster',
  name: 'Image Color Adjuster',
  category: 'image',
  description: 'Changes brightness, contrast, saturation, hue, gamma and colour temperature of images.',
  settings: {
    brightness: num({
      min: 0,
      max: 3,
      default: 1,
      describe: 'From black (0) over unchanged (1) to three times as bright.',
    }),
    contrast: num({ min: 0, max: 3, default: 1, describe: 'From plain grey (0) over unchanged (1) to harsh (3).' }),
    saturation: num({
      min: 0,
      max: 3,
      default: 1,
      describe: 'From no colour (0) over unchanged (1) to three times as much.',
    }),
    hue: int({ min: -180, max: 180, default: 0, describe: 'Degrees to turn every colour around the colour circle.' }),
    gamma: num({ min: 0.4, max: 3, default: 1, describe: 'Above 1 lightens the middle tones, below 1 darkens them.' }),
    temperature: int({ min: -100, max: 100, default: 0, describe: 'From bluish (-100) to yellowish (100).' }),
  },
  run: (context) =>
    editEach(context, (image) => adjustColors(image, context.settings), {
      painted: context.settings.temperature !== 0,
    }),
});
