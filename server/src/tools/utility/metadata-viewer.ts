import { writeFile } from 'node:fs/promises';
import { exiftool, readMetadata } from '../../engines/exiftool.ts';
import { mediaTypeOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, text } from '../settings.ts';

export default defineTool({
  slug: 'metadata-viewer',
  name: 'Metadata Viewer',
  category: 'utility',
  description: 'Shows what a file says about itself: camera, place, author, program, codecs and everything else.',
  accepts: 'any',
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [exiftool],
  settings: {
    groups: text({
      default: 'all',
      max: 200,
      pattern: /^[A-Za-z0-9][A-Za-z0-9_-]*(\s*,\s*[A-Za-z0-9][A-Za-z0-9_-]*)*$/,
      patternHint: 'must be names of groups, separated by commas, such as EXIF,XMP,GPS',
      describe: 'Groups to show, separated by commas, such as EXIF,GPS,XMP,IPTC,ICC_Profile,PDF or QuickTime.',
    }),
    binary: flag({ default: false, describe: 'Also give binary values, such as previews, as Base64.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { settings, signal } = context;
      const names = settings.groups.split(',').map((name) => name.trim());
      const groups = names.some((name) => name.toLowerCase() === 'all') ? [] : names;
      const metadata = await readMetadata(input, { groups, binary: settings.binary, signal });
      const { filename, sizeBytes, type } = input;
      const report = { filename, size_bytes: sizeBytes, media_type: mediaTypeOf(type), metadata };
      await writeFile(context.output(`${input.stem}.json`), `${JSON.stringify(report, undefined, 2)}\n`);
    }),
});
