import { writeFile } from 'node:fs/promises';
import { checkEpub, epubcheck } from '../../engines/epubcheck.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';

export default defineTool({
  slug: 'epub-validator',
  name: 'EPUB Validator',
  category: 'ebook',
  description: 'Checks EPUB books against the standard and reports every error with its file and line, as JSON.',
  accepts: ['epub'],
  produces: ['json'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [epubcheck],
  settings: {},
  async run(context) {
    const { output, scratch, signal } = context;
    await eachInput(context, async (input) => {
      const report = await checkEpub(input, { scratch, signal });
      const json = JSON.stringify({ file: input.filename, ...report }, undefined, 2);
      await writeFile(output(`${input.stem}.json`), `${json}\n`);
    });
  },
});
