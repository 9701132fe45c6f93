import { writeFile } from 'node:fs/promises';
import { type Fingerprint, distanceOf, fingerprint, groupSimilar } from '../../engines/image-duplicates.ts';
import { openImage } from '../../engines/images.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { int } from '../settings.ts';
import { readsRasters } from './kept-format.ts';

export default defineTool({
  ...readsRasters,
  slug: 'duplicate-image-finder',
  name: 'Duplicate Image Finder',
  category: 'image',
  description: 'Finds images that show the same, also in another size, format or quality.',
  produces: ['json'],
  files: { min: 2, max: 100 },
  settings: {
    distance: int({
      min: 0,
      max: 32,
      default: 8,
      describe: 'In how many of 64 places two images may differ and still be duplicates: 0 is strict.',
    }),
  },
  async run(context) {
    const { inputs, settings } = context;
    const prints: Fingerprint[] = [];
    const images: { file: string; width: number; height: number; size_bytes: number; hash: string }[] = [];
    await eachInput(context, async (input) => {
      const image = await openImage(input, context, { animated: false });
      const print = await fingerprint(image);
      prints.push(print);
      images.push({
        file: input.filename,
        width: image.width,
        height: image.height,
        size_bytes: input.sizeBytes,
        hash: print.hash.toString(16).padStart(16, '0'),
      });
    });
    const groups = groupSimilar(prints, settings.distance).map((members) => {
      // The one to keep: most pixels, then most bytes.
      const [best = 0] = members.toSorted(
        (a, b) => pixelsOf(images[b]) - pixelsOf(images[a]) || bytesOf(images[b]) - bytesOf(images[a]),
      );
      return {
        keep: best,
        images: members.map((index) => ({
          index,
          file: inputs[index]?.filename,
          distance: distanceOf(prints[best]!, prints[index]!),
        })),
      };
    });
    const grouped = new Set(groups.flatMap((group) => group.images.map(({ index }) => index)));
    const unique = [...inputs.keys()].filter((index) => !grouped.has(index));
    const report = { method: 'dhash', distance: settings.distance, groups, unique, images };
    await writeFile(context.output('duplicates.json'), `${JSON.stringify(report, null, 2)}\n`);
  },
});

interface Shape {
  width: number;
  height: number;
  size_bytes: number;
}
function pixelsOf(image: Shape | undefined): number {
  return (image?.width ?? 0) * (image?.height ?? 0);
}
function bytesOf(image: Shape | undefined): number {
  return image?.size_bytes ?? 0;
}
