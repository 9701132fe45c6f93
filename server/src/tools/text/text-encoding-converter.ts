import { iconv, convertText, detectTextEncoding, textEncodings } from '../../engines/text-encodings.ts';
import { mediaTypeOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { byteProgress } from '../each-input.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'text-encoding-converter',
  name: 'Text Encoding Converter',
  category: 'text',
  description: 'Writes text files in another encoding, with other line ends, with or without a byte order mark.',
  accepts: ['txt', 'csv', 'tsv', 'srt', 'html', 'md', 'json', 'xml', 'css', 'js', 'sql'],
  produces: 'any',
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [iconv],
  settings: {
    from: choice({ of: ['auto', ...textEncodings], default: 'auto', describe: 'The encoding the files are in.' }),
    to: choice({ of: textEncodings, default: 'utf-8', describe: 'The encoding to write.' }),
    newline: choice({
      of: ['keep', 'lf', 'crlf'],
      default: 'keep',
      describe: 'Line ends: as they are, Unix or Windows.',
    }),
    bom: flag({
      default: false,
      describe: 'Begin UTF-8 and UTF-16 with a byte order mark, as old Windows programs want.',
    }),
  },
  check: ({ bom, to }) => (bom && !to.startsWith('utf-') ? { bom: [`has no place in ${to}`] } : {}),
  async run(context) {
    const { from, ...target } = context.settings;
    const onBytes = byteProgress(context);
    for (const input of context.inputs) {
      const source = from === 'auto' ? await detectTextEncoding(input) : from;
      context.log(`${mediaTypeOf(input.type)} in ${source}`);
      const path = context.output(input.filename);
      await convertText(input, { path, from: source, ...target }, { signal: context.signal, onBytes });
    }
  },
});
