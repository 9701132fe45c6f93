import { encodeBase64 } from '../../engines/base64.ts';
import { node } from '../../engines/node.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { mediaTypeOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, int } from '../settings.ts';

const maxBytes = 20_000_000;

export default defineTool({
  slug: 'base64-encoder',
  name: 'Base64 Encoder',
  category: 'utility',
  description: 'Writes files as Base64 text, for a data URI, a configuration file or a mail.',
  accepts: 'any',
  produces: ['txt'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 120,
  engines: [node],
  settings: {
    data_uri: flag({ default: false, describe: 'Put data:…;base64, in front, as a web page wants it.' }),
    url_safe: flag({ default: false, describe: 'Use - and _ instead of + and /, without padding.' }),
    wrap: int({ min: 0, max: 1000, default: 0, describe: 'Characters a line, such as 76 for mail; 0 for one line.' }),
  },
  check({ data_uri, url_safe, wrap }, inputs) {
    const errors: FieldErrors = {};
    if (data_uri && url_safe) errors['url_safe'] = ['has no place in a data URI'];
    if (data_uri && wrap > 0) errors['wrap'] = ['has no place in a data URI'];
    for (const [index, { sizeBytes }] of inputs.entries()) {
      if (sizeBytes > maxBytes) errors[`files.${index}`] = ['is larger than the 20 MB that make sense as text'];
    }
    return errors;
  },
  run: (context) =>
    eachInput(context, async ({ path, filename, type }) => {
      const { data_uri, url_safe, wrap } = context.settings;
      const prefix = data_uri ? `data:${mediaTypeOf(type)};base64,` : '';
      const target = context.output(`${filename}.txt`);
      await encodeBase64(path, target, { urlSafe: url_safe, wrap, prefix }, context.signal);
    }),
});
