import { convertToPdf, libreoffice } from '../../engines/libreoffice.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { pageRanges, selectPages } from '../page-ranges.ts';
import { choice, flag } from '../settings.ts';
import { documentPassword } from './document-password.ts';

export default defineTool({
  slug: 'word-to-pdf-converter',
  name: 'Word to PDF Converter',
  category: 'document',
  description: 'Turns Word and other text documents into PDF, laid out as they print.',
  accepts: ['docx', 'doc', 'odt', 'rtf', 'txt', 'encrypted_office'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [libreoffice],
  settings: {
    pages: pageRanges({ describe: 'Pages to keep, such as 1-3,8.', default: 'all' }),
    pdfa: flag({ describe: 'Write PDF/A-2b, the form for archives.', default: false }),
    track_changes: choice({
      describe: 'Accept tracked changes, or show them as they are marked.',
      of: ['accept', 'show'],
      default: 'accept',
    }),
    password: documentPassword(),
  },
  async run(context) {
    const { settings, output, scratch, signal } = context;
    await eachInput(context, async (input) => {
      await convertToPdf(input, {
        target: output(`${input.stem}.pdf`),
        ...(settings.pages === 'all'
          ? {}
          : { selectPages: (pageCount) => selectPages(settings.pages, pageCount, input.filename) }),
        pdfa: settings.pdfa,
        changes: settings.track_changes,
        password: settings.password,
        scratch,
        signal,
      });
    });
  },
});
