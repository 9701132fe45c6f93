import type { Sharp } from 'sharp';
import { canBeClear, canMove, eachFrame, openImage, writeImage } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { choice, color, flag, num, type Values } from '../settings.ts';
import { eachPicture } from './each-picture.ts';
import { keepsFormat } from './kept-format.ts';

const settings = {
  angle: num({ min: -360, max: 360, default: 90, describe: 'Degrees clockwise; 0 only flips.' }),
  flip: choice({
    of: ['none', 'horizontal', 'vertical', 'both'],
    default: 'none',
    describe: 'Mirror left to right (horizontal), top to bottom (vertical) or both, before turning.',
  }),
  auto_orient: flag({
    default: true,
    describe: 'Start from the way a camera held upright shows it; false starts from the stored pixels.',
  }),
  background: color({
    transparent: true,
    default: '#ffffff',
    describe: 'Fills the corners of an angle that is no multiple of 90; transparent becomes white in JPEG and BMP.',
  }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  ...keepsFormat,
  slug: 'image-rotator',
  name: 'Image Rotator',
  category: 'image',
  description: 'Turns images by any angle and mirrors them.',
  settings,
  run: (context) =>
    eachPicture(context, 'keep', async (picture, path, format) => {
      const { angle, auto_orient, background } = context.settings;
      const image = await openImage(picture, context, {
        animated: canMove(format, picture.type),
        autoOrient: auto_orient,
      });
      const hasCorners = angle % 90 !== 0;
      const isClear = hasCorners && background === 'transparent' && canBeClear(format);
      const corners = background === 'transparent' ? (isClear ? '#00000000' : '#ffffff') : background;
      const turned = await eachFrame(image, (pipeline) => {
        // Corners are painted in the colours of the picture: on a grey one they would be grey.
        const colored = hasCorners ? pipeline.pipelineColourspace('srgb') : pipeline;
        return turnSteps(colored, context.settings, corners);
      });
      const hasAlpha = turned.hasAlpha || isClear;
      await writeImage({ ...turned, hasAlpha }, path, format, { quality: 90, painted: hasCorners });
    }),
});

function turnSteps(pipeline: Sharp, { angle, flip }: Settings, background: string): Sharp {
  const flipped = pipeline.flop(flip === 'horizontal' || flip === 'both').flip(flip === 'vertical' || flip === 'both');
  return angle % 360 === 0 ? flipped : flipped.rotate(angle, { background });
}
