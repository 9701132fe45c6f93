import { cameraRawDecoder, developCameraRaw } from '../../engines/camera-raw.ts';
import { exiftool } from '../../engines/exiftool.ts';
import { imageFrom, writeImage } from '../../engines/images.ts';
import { openWithSharp, sharpEngine } from '../../engines/sharp.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, int } from '../settings.ts';

export default defineTool({
  slug: 'raw-photo-converter',
  name: 'RAW Photo Converter',
  category: 'image',
  description: 'Develops camera raw photos into JPEG, or TIFF and PNG with 16 bits a colour.',
  accepts: ['raw'],
  produces: ['jpeg', 'tiff', 'png'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [sharpEngine, cameraRawDecoder, exiftool],
  settings: {
    format: choice({ of: ['jpeg', 'tiff', 'png'], default: 'jpeg', describe: 'The format to return.' }),
    quality: int({ min: 1, max: 100, default: 92, describe: 'Quality of JPEG.' }),
    white_balance: choice({
      of: ['camera', 'auto'],
      default: 'camera',
      describe: 'The white balance the camera chose, or one measured over the whole picture (auto).',
    }),
    half_size: flag({ default: false, describe: 'Half the width and height, developed several times faster.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { format, quality, white_balance: whiteBalance, half_size: halfSize } = context.settings;
      const bits = format === 'jpeg' ? 8 : 16;
      const tiff = await developCameraRaw(input.path, input, context, { whiteBalance, halfSize, bits });
      const image = await imageFrom(await openWithSharp(tiff), input, context);
      const photo = { ...image, exifFrom: input.path };
      await writeImage(photo, context.output(`${input.stem}.${extensionOf(format)}`), format, { quality });
    }),
});
