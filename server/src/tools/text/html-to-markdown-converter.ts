import { writeFile } from 'node:fs/promises';
import { htmlSanitizer } from '../../engines/html-sanitizer.ts';
import { htmlToMarkdown, readabilityEngine, readHtmlFile, turndownEngine } from '../../engines/html-to-markdown.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'html-to-markdown-converter',
  name: 'HTML to Markdown Converter',
  category: 'text',
  description: 'Writes the text of an HTML page as Markdown.',
  accepts: ['html'],
  produces: ['md'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [turndownEngine, readabilityEngine, htmlSanitizer],
  settings: {
    readability: flag({ default: false, describe: 'Keep the article alone, without menus and what stands around it.' }),
    links: choice({
      of: ['inline', 'reference'],
      default: 'inline',
      describe: 'inline: addresses stand in the text; reference: they are listed at the end.',
    }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { readability, links } = context.settings;
      const { filename, stem } = input;
      const markdown = await htmlToMarkdown(await readHtmlFile(input), { filename, readability, links });
      await writeFile(context.output(`${stem}.md`), markdown);
    }),
});
