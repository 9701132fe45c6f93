import { writeApng } from '../../engines/apng.ts';
import { animationSize, frameOf, joinFrames } from '../../engines/image-animation.ts';
import { assertDecodable } from '../../engines/image-failure.ts';
import type { Size } from '../../engines/image-geometry.ts';
import { type Pixels, openImage, writeImage } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, color, int } from '../settings.ts';
import { readsRasters } from './kept-format.ts';

export default defineTool({
  ...readsRasters,
  slug: 'gif-maker',
  name: 'GIF Maker',
  category: 'image',
  description: 'Makes an animation of images, in the order they are sent.',
  produces: ['gif', 'webp', 'png'],
  files: { min: 2, max: 100 },
  settings: {
    delay_ms: int({
      min: 20,
      max: 10_000,
      default: 200,
      describe: 'How long each image shows, in milliseconds; GIF rounds to hundredths of a second.',
    }),
    loop: int({ min: 0, max: 100, default: 0, describe: 'How often it plays; 0 is for ever.' }),
    width: int({
      min: 1,
      max: 4096,
      describe:
        'Width in pixels; without it that of the first image, at most 1280. The height follows from the first image.',
    }),
    background: color({
      transparent: true,
      default: '#ffffff',
      describe: 'Colour around images of another shape than the first, and behind transparent ones.',
    }),
    format: choice({ of: ['gif', 'webp', 'apng'], default: 'gif', describe: 'The format to return.' }),
  },
  async run(context) {
    const { inputs, settings, signal } = context;
    const { delay_ms, loop, width, background, format } = settings;
    const frames: Pixels[] = [];
    let size: Size | undefined;
    await eachInput({ inputs, signal, progress: (percent) => context.progress(percent * 0.7) }, async (input) => {
      const image = await openImage(input, context, { animated: false });
      size ??= animationSize(image, inputs.length, width);
      assertDecodable(input, { ...size, frames: inputs.length });
      frames.push(await frameOf(image, size, background));
    });
    const timing = { delay: inputs.map(() => delay_ms), loop };
    const path = context.output(`animation.${format}`);
    if (format === 'apng') return writeApng(frames, timing, path, signal);
    const animation = await joinFrames(frames, timing, { file: inputs[0]!, workspace: context });
    await writeImage(animation, path, format, { quality: 90 });
  },
});
