import { libreofficeImpress } from '../../engines/libreoffice.ts';
import { printSlides } from '../../engines/libreoffice-slides.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice, flag } from '../settings.ts';
import { documentPassword } from './document-password.ts';
import { selectSlides } from './slide-selection.ts';

const perPage = { '1': undefined, '2': 2, '4': 4, '6': 6 } as const;

export default defineTool({
  slug: 'powerpoint-to-pdf-converter',
  name: 'PowerPoint to PDF Converter',
  category: 'document',
  description: 'Turns presentations into PDF: as slides, as notes pages or as handouts.',
  accepts: ['pptx', 'ppt', 'odp', 'encrypted_office'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [libreofficeImpress, pdfLib],
  settings: {
    slides: pageRanges({ describe: 'Slides to keep, such as 1-3,8; all leaves hidden ones out.', default: 'all' }),
    notes: flag({ describe: 'Write notes pages: each slide small, with its notes below.', default: false }),
    handout: choice({
      describe: 'Slides on a page; more than one makes handouts on A4.',
      of: ['1', '2', '4', '6'],
      default: '1',
    }),
    password: documentPassword(),
  },
  check({ notes, handout }) {
    if (!notes || handout === '1') return {};
    return { handout: ['cannot be chosen together with notes'] };
  },
  async run(context) {
    const { settings, output, scratch, signal } = context;
    await eachInput(context, async (input) => {
      await printSlides(input, {
        target: output(`${input.stem}.pdf`),
        selectSlides: (slides) => selectSlides(settings.slides, slides, input.filename),
        notes: settings.notes,
        perPage: perPage[settings.handout],
        password: settings.password,
        scratch,
        signal,
      });
    });
  },
});
