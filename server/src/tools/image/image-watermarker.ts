import { gridPositions } from '../../engines/image-geometry.ts';
import { type OpenImage, openImage, rasterTypes } from '../../engines/images.ts';
import { type Mark, imageMark, textMark, withMark } from '../../engines/watermark.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { defineTool, type InputFacts, type ToolContext } from '../define.ts';
import { choice, color, int, num, text, type Values } from '../settings.ts';
import { editEach, keepsFormat } from './kept-format.ts';

const settings = {
  text: text({ max: 500, describe: 'The text to write on the images; required when mark is text.' }),
  mark: choice({
    of: ['text', 'last_file'],
    default: 'text',
    describe: 'What to put on the images: the text, or the last file sent, which is then no image of its own.',
  }),
  position: choice({
    of: [...gridPositions, 'tile'],
    default: 'bottom-right',
    describe: 'Where the mark goes; tile repeats it all over.',
  }),
  opacity: num({ min: 0, max: 1, default: 0.5, describe: 'From invisible (0) to solid (1).' }),
  scale: num({
    min: 0.01,
    max: 1,
    default: 0.2,
    describe: 'Width of a mark image as a part of the width of the image it goes on; text goes by font_size.',
  }),
  rotation: int({ min: -360, max: 360, default: 0, describe: 'Degrees to turn the mark clockwise.' }),
  font_size: int({ min: 8, max: 512, default: 48, describe: 'Height of the text in pixels.' }),
  color: color({ default: '#ffffff', describe: 'Colour of the text.' }),
  margin: int({ min: 0, max: 4096, default: 16, describe: 'Pixels between the mark and the edges.' }),
};
type Settings = Values<typeof settings>;

export default defineTool({
  ...keepsFormat,
  slug: 'image-watermarker',
  name: 'Image Watermarker',
  category: 'image',
  description: 'Puts a text or a logo on images.',
  accepts: [...rasterTypes, 'svg'],
  settings,
  check: checkSettings,
  async run(context) {
    const last = context.inputs.at(-1);
    if (context.settings.mark === 'text' || last === undefined) return markAll(context, context.inputs, undefined);
    const logo = await openImage(last, context, { animated: false, dpi: logoDpi });
    return markAll(context, context.inputs.slice(0, -1), logo);
  },
});

/** A drawing used as a mark is rasterised larger than it says: it is scaled to the image afterwards. */
const logoDpi = 384;

function checkSettings({ mark, text: words }: Settings, inputs: readonly InputFacts[]): FieldErrors {
  const drawing = inputs.findIndex(
    ({ type }, index) => type === 'svg' && !(mark === 'last_file' && index === inputs.length - 1),
  );
  if (drawing !== -1)
    return { [`files.${drawing}`]: ['is an SVG drawing, which can only be the mark (mark=last_file)'] };
  if (mark === 'text' && (words === undefined || words.trim() === ''))
    return { text: ['is required when mark is text'] };
  if (mark === 'last_file' && inputs.length < 2) {
    return { mark: ['last_file needs at least two files: the images and, as the last one, the mark'] };
  }
  return {};
}

function markAll(
  context: ToolContext<Settings>,
  inputs: ToolContext<Settings>['inputs'],
  logo: OpenImage | undefined,
): Promise<void> {
  const { settings } = context;
  const mark = async (image: OpenImage): Promise<Mark> => {
    if (logo !== undefined) return imageMark(logo, image.width * settings.scale);
    const { text: words = '', font_size, color: ink, margin } = settings;
    return textMark({ text: words, fontSize: font_size, color: ink, maxWidth: image.width - 2 * margin });
  };
  const edit = async (image: OpenImage) => withMark(image, await mark(image), settings);
  return editEach(context, edit, { painted: true }, inputs);
}
