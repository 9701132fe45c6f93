import { paperSizes, printPage } from '../../engines/chromium-print.ts';
import { chromium, showPage } from '../../engines/chromium.ts';
import { siteOfFile, siteOfZip } from '../../engines/local-site.ts';
import { webAccess, type WebFetch } from '../../engines/web-access.ts';
import { defineTool, type InputFile } from '../define.ts';
import { choice, flag, num, text } from '../settings.ts';
import { addressForm, addressProblem, webPage } from './web-address.ts';

export default defineTool({
  slug: 'html-to-pdf-converter',
  name: 'HTML to PDF Converter',
  category: 'document',
  description: 'Prints an HTML file, a site in a ZIP archive or a web page as PDF.',
  accepts: ['html', 'zip'],
  produces: ['pdf'],
  files: { min: 0, max: 1 },
  timeoutSeconds: 240,
  engines: [chromium],
  network: true,
  optionalEngines: [webAccess],
  enginesFor: ({ url }) => (url === undefined ? [] : [webAccess]),
  settings: {
    url: text({ ...addressForm, describe: 'The address of a web page to print instead of a file.' }),
    page_size: choice({ of: paperSizes, default: 'a4', describe: 'The paper.' }),
    orientation: choice({ of: ['portrait', 'landscape'], default: 'portrait', describe: 'How the paper lies.' }),
    margin_mm: num({ min: 0, max: 100, default: 10, describe: 'White edge on every side in millimetres.' }),
    prefer_css_page_size: flag({
      default: false,
      describe: 'Let a size the page itself declares (@page) win over page_size and orientation.',
    }),
    print_background: flag({ default: true, describe: 'Print background colours and pictures.' }),
    scale: num({ min: 0.1, max: 2, default: 1, describe: 'How large the content is drawn.' }),
    wait_until: choice({
      of: ['load', 'networkidle'],
      default: 'load',
      describe: 'Print when the page has loaded, or when it also asks for nothing more (up to 15 seconds later).',
    }),
    header_html: text({
      max: 10_000,
      describe:
        'HTML at the top of every page; elements with the class pageNumber, totalPages, title, date or url are filled in. It needs a margin.',
    }),
    footer_html: text({ max: 10_000, describe: 'HTML at the bottom of every page, as header_html.' }),
  },
  check({ url, header_html, footer_html, margin_mm, page_size }, inputs) {
    const source = url !== undefined && inputs.length > 0 ? 'cannot be sent together with a file' : undefined;
    const missing = url === undefined && inputs.length === 0 ? 'is required when no file is sent' : undefined;
    const problem = source ?? missing ?? (url === undefined ? undefined : addressProblem(url));
    if (problem !== undefined) return { url: [problem] };
    if (margin_mm < 5 && (header_html ?? footer_html) !== undefined) {
      return { margin_mm: ['must be at least 5 for a header or footer to be seen'] };
    }
    if (margin_mm > 60 && page_size === 'a5') return { margin_mm: ['leaves no room on this paper'] };
    return {};
  },
  async run(context) {
    const { settings, signal, fetch } = context;
    await using source = await openSource(context.inputs[0], settings.url, fetch);
    const options = { ...source, scripts: true, waitUntil: settings.wait_until, signal };
    await showPage(options, async (page) => {
      context.progress(50);
      await printPage(page, {
        target: context.output(`${source.stem}.pdf`),
        paper: settings.page_size,
        landscape: settings.orientation === 'landscape',
        marginMm: settings.margin_mm,
        background: settings.print_background,
        scale: settings.scale,
        ownSize: settings.prefer_css_page_size,
        header: settings.header_html,
        footer: settings.footer_html,
      });
    });
  },
});

async function openSource(input: InputFile | undefined, url: string | undefined, fetch: WebFetch) {
  if (input === undefined) return { ...webPage(url ?? '', fetch), [Symbol.asyncDispose]: async () => undefined };
  const site = await (input.type === 'zip' ? siteOfZip(input) : siteOfFile(input));
  return { ...site, name: input.filename, file: input.filename, stem: input.stem };
}
