import { filterImage, imageEffects } from '../../engines/image-filters.ts';
import { defineTool } from '../define.ts';
import { choice, num } from '../settings.ts';
import { editEach, keepsFormat } from './kept-format.ts';
import { regions } from './regions.ts';

export default defineTool({
  ...keepsFormat,
  slug: 'image-filter-applier',
  name: 'Image Filter Applier',
  category: 'image',
  description: 'Applies an effect to images or to parts of them, for a look or to hide what is there.',
  settings: {
    effect: choice({ of: imageEffects, required: true, describe: 'What to do to the image.' }),
    strength: num({
      min: 0,
      max: 1,
      default: 0.5,
      describe: 'How strong blur, sharpen, pixelate and vignette are; the others are always complete.',
    }),
    regions: regions({
      describe:
        'Parts to apply it to, in pixels from the top left of the upright image: [{"x":10,"y":20,"width":80,"height":40}]. Blur and pixelate are stronger there, so that they hide.',
    }),
  },
  run: (context) =>
    editEach(context, (image) => filterImage(image, context.settings), {
      painted: context.settings.effect === 'sepia',
    }),
});
