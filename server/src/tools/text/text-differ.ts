import { writeFile } from 'node:fs/promises';
import { diffTexts, formatHtml, formatUnified, jsdiff } from '../../engines/text-diff.ts';
import { readTextFile } from '../../engines/text-file.ts';
import { defineTool, type InputFile } from '../define.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'text-differ',
  name: 'Text Differ',
  category: 'text',
  description: 'Shows what differs between two text files, line by line.',
  accepts: ['txt'],
  produces: ['patch', 'html', 'json'],
  files: { min: 2, max: 2 },
  timeoutSeconds: 180,
  engines: [jsdiff],
  settings: {
    format: choice({
      of: ['unified', 'html', 'json'],
      default: 'unified',
      describe: 'unified: a patch that git and patch can apply; html: a page to look at; json: for programs.',
    }),
    ignore_whitespace: flag({ default: false, describe: 'Count lines as equal that differ in white space only.' }),
  },
  async run({ inputs, settings, output }) {
    const [before, after] = await Promise.all(inputs.map(readSide));
    const diff = await diffTexts(before!, after!, { ignoreWhitespace: settings.ignore_whitespace });
    const stem = inputs[0]!.stem;
    if (settings.format === 'unified') return writeFile(output(`${stem}.patch`), await formatUnified(diff));
    if (settings.format === 'html') return writeFile(output(`${stem}-diff.html`), formatHtml(diff));
    const { patch, added, removed } = diff;
    const report = { before: before!.filename, after: after!.filename, added, removed, hunks: patch.hunks };
    await writeFile(output(`${stem}-diff.json`), `${JSON.stringify(report, undefined, 2)}\n`);
  },
});

async function readSide(input: InputFile) {
  return { filename: input.filename, text: await readTextFile(input) };
}
