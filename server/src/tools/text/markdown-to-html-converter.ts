import { writeFile } from 'node:fs/promises';
import { htmlSanitizer, sanitizeText } from '../../engines/html-sanitizer.ts';
import { markdownIt, markdownPage, renderMarkdown } from '../../engines/markdown.ts';
import { readTextFile } from '../../engines/text-file.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'markdown-to-html-converter',
  name: 'Markdown to HTML Converter',
  category: 'text',
  description: 'Turns Markdown into an HTML page or a piece of one.',
  accepts: ['md'],
  produces: ['html'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [markdownIt, htmlSanitizer],
  settings: {
    flavor: choice({
      of: ['gfm', 'commonmark'],
      default: 'gfm',
      describe: 'gfm: as GitHub reads it, with tables, task lists and struck text; commonmark: the standard alone.',
    }),
    standalone: flag({ default: true, describe: 'Make a whole page; without it only the text is written.' }),
    sanitize: flag({ default: true, describe: 'Leave out scripts, styles and frames of HTML within the Markdown.' }),
    theme: choice({ of: ['none', 'github'], default: 'github', describe: 'The style a whole page brings along.' }),
    toc: flag({ default: false, describe: 'Begin with a table of contents; needs the flavor gfm.' }),
  },
  check({ toc, flavor }) {
    return toc && flavor !== 'gfm' ? { toc: ['needs the flavor gfm, whose headings can be linked to'] } : {};
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { flavor, standalone, sanitize, theme, toc } = context.settings;
      const rendered = await renderMarkdown(await readTextFile(input), { flavor, toc });
      const html = sanitize ? await sanitizeText(rendered.html) : rendered.html;
      const page = standalone ? await markdownPage({ html, title: rendered.title ?? input.stem, theme }) : html;
      await writeFile(context.output(`${input.stem}.html`), page);
    }),
});
