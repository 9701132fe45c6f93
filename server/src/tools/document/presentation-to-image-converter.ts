import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { libreofficeImpress } from '../../engines/libreoffice.ts';
import { printSlides } from '../../engines/libreoffice-slides.ts';
import { encodePage } from '../../engines/page-image.ts';
import { pdfium, readPdf } from '../../engines/pdfium.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { pageRanges } from '../page-ranges.ts';
import { choice, int } from '../settings.ts';
import { documentPassword } from './document-password.ts';
import { selectSlides } from './slide-selection.ts';

export default defineTool({
  slug: 'presentation-to-image-converter',
  name: 'Presentation to Image Converter',
  category: 'document',
  description: 'Turns the slides of a presentation into images, one a slide.',
  accepts: ['pptx', 'ppt', 'odp', 'encrypted_office'],
  produces: ['png', 'jpeg', 'webp'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [libreofficeImpress, pdfium],
  settings: {
    format: choice({ describe: 'The format of the images.', of: ['png', 'jpeg', 'webp'], default: 'png' }),
    dpi: int({ describe: 'Pixels per inch of the slide.', min: 36, max: 600, default: 150 }),
    slides: pageRanges({ describe: 'Slides to convert, such as 1-3,8; all leaves hidden ones out.', default: 'all' }),
    quality: int({ describe: 'For JPEG and WebP: from small (1) to good (100).', min: 1, max: 100, default: 85 }),
    password: documentPassword(),
  },
  async run({ inputs, settings, output, progress, scratch, signal }) {
    const { format, dpi, quality, password } = settings;
    const pdf = join(scratch, 'presentation.pdf');
    for (const [index, input] of inputs.entries()) {
      const { filename, stem } = input;
      let total = 0;
      const slides = await printSlides(input, {
        target: pdf,
        selectSlides: (all) => {
          total = all.length;
          return selectSlides(settings.slides, all, filename);
        },
        password,
        scratch,
        signal,
      });
      await readPdf({ path: pdf, filename, password: undefined, scratch }, async (reader) => {
        for (const [page, slide] of slides.entries()) {
          signal.throwIfAborted();
          const number = String(slide + 1).padStart(String(total).length, '0');
          const rendered = reader.render(page, { dpi, transparent: false });
          await encodePage(rendered, output(`${stem}-${number}.${extensionOf(format)}`), { format, dpi, quality });
          progress(((index + (page + 1) / slides.length) / inputs.length) * 100);
        }
      });
      await rm(pdf);
    }
  },
});
