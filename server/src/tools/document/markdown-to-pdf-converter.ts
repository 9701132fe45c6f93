import { paperSizes, printPage } from '../../engines/chromium-print.ts';
import { chromium, showPage } from '../../engines/chromium.ts';
import { htmlSanitizer, sanitizeForPrint } from '../../engines/html-sanitizer.ts';
import { siteOfHtml } from '../../engines/local-site.ts';
import { markdownIt, markdownPage, renderMarkdown } from '../../engines/markdown.ts';
import { readTextFile } from '../../engines/text-file.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, num } from '../settings.ts';

export default defineTool({
  slug: 'markdown-to-pdf-converter',
  name: 'Markdown to PDF Converter',
  category: 'document',
  description: 'Lays out Markdown as GitHub shows it, or plainly, and prints it as PDF.',
  accepts: ['md'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [chromium, markdownIt, htmlSanitizer],
  settings: {
    theme: choice({ of: ['plain', 'github'], default: 'github', describe: 'How it looks.' }),
    page_size: choice({ of: paperSizes, default: 'a4', describe: 'The paper.' }),
    margin_mm: num({ min: 0, max: 60, default: 18, describe: 'White edge on every side in millimetres.' }),
    toc: flag({ default: false, describe: 'Begin with a table of contents whose lines lead to the headings.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { theme, page_size: paper, margin_mm: marginMm, toc } = context.settings;
      const { filename, stem } = input;
      const { html, title = stem } = await renderMarkdown(await readTextFile(input), { flavor: 'gfm', toc });
      const page = await markdownPage({ html: await sanitizeForPrint(html), title, theme, print: true });
      const source = { ...siteOfHtml(page), name: filename, file: filename };
      await showPage({ ...source, scripts: false, signal: context.signal }, async (shown) => {
        await printPage(shown, { target: context.output(`${stem}.pdf`), paper, marginMm });
      });
    }),
});
