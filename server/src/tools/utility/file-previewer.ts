import { ffmpeg } from '../../engines/ffmpeg.ts';
import { fontverter } from '../../engines/fonts/font-file.ts';
import { fontkit } from '../../engines/fonts/inspect.ts';
import type { Engine } from '../../engines/engine.ts';
import { cameraRawDecoder } from '../../engines/camera-raw.ts';
import { imagePrograms, rasterTypes, withSteps, writeImage } from '../../engines/images.ts';
import { libreoffice, libreofficeCalc, libreofficeImpress } from '../../engines/libreoffice.ts';
import { audioTypes, videoTypes } from '../../engines/media/media-types.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { fontTypes, officeTypes, openAnyPreview, textTypes } from '../../engines/preview.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFacts } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int } from '../settings.ts';

/** Programs that show files of these kinds. */
const programs: readonly (readonly [readonly FileTypeId[], readonly Engine[]])[] = [
  [['docx', 'doc', 'odt', 'rtf'], [libreoffice]],
  [['xlsx', 'xls', 'ods'], [libreofficeCalc]],
  [['pptx', 'ppt', 'odp'], [libreofficeImpress]],
  [[...videoTypes, ...audioTypes], [ffmpeg]],
];

export default defineTool({
  slug: 'file-previewer',
  name: 'File Previewer',
  category: 'utility',
  description: 'Makes a small picture of what a file looks like: pictures, documents, texts, video, sound and fonts.',
  accepts: [...rasterTypes, 'svg', 'pdf', ...officeTypes, ...videoTypes, ...audioTypes, ...fontTypes, ...textTypes],
  produces: ['webp', 'png', 'jpeg'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [sharpEngine, pdfium, fontkit, fontverter],
  optionalEngines: [cameraRawDecoder, libreoffice, libreofficeCalc, libreofficeImpress, ffmpeg],
  enginesFor: (_settings, inputs) => [...imagePrograms(inputs, 'png'), ...previewPrograms(inputs)],
  settings: {
    width: int({ min: 16, max: 4096, default: 300, describe: 'Width in pixels at most.' }),
    height: int({ min: 16, max: 4096, default: 200, describe: 'Height in pixels at most.' }),
    format: choice({ of: ['webp', 'png', 'jpeg'], default: 'webp', describe: 'The format to return.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { width, height, format } = context.settings;
      const image = await openAnyPreview(input, context, Math.max(width, height));
      const small = withSteps(image, (pipeline) =>
        pipeline.resize(width, height, { fit: 'inside', withoutEnlargement: true }),
      );
      const path = context.output(`${input.stem}.${format === 'jpeg' ? 'jpg' : format}`);
      await writeImage(small, path, format, { quality: 80, keepMetadata: false });
    }),
});

function previewPrograms(inputs: readonly InputFacts[]): readonly Engine[] {
  const needed = programs.filter(([types]) => inputs.some((input) => types.includes(input.type)));
  return needed.flatMap(([, engines]) => engines);
}
