import { writeFile } from 'node:fs/promises';
import { pixelmatchEngine } from '../../engines/image-compare.ts';
import { compareLooks, compareTexts } from '../../engines/pdf-compare.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { jsdiff } from '../../engines/text-diff.ts';
import { defineTool } from '../define.ts';
import { choice, int, num } from '../settings.ts';
import { password } from './edit-pdf.ts';

export default defineTool({
  slug: 'pdf-comparer',
  name: 'PDF Comparer',
  category: 'pdf',
  description: 'Shows where two PDFs differ, in how they look or in their words: the pages side by side, and a report.',
  accepts: ['pdf'],
  produces: ['pdf', 'json'],
  files: { min: 2, max: 2 },
  timeoutSeconds: 600,
  engines: [pdfium, pdfLib, qpdf, sharpEngine, pixelmatchEngine, jsdiff],
  settings: {
    mode: choice({
      of: ['visual', 'text'],
      default: 'visual',
      describe: 'Compare the pages as pictures, or the words of the whole files wherever they stand.',
    }),
    dpi: int({ min: 36, max: 200, default: 100, describe: 'Pixels an inch at which pages are painted.' }),
    threshold: num({
      min: 0,
      max: 1,
      default: 0.1,
      describe: 'In visual mode, how far apart two colours may be and still count as equal: 0 is strict.',
    }),
    password,
  },
  async run(context) {
    const [one, other] = context.inputs;
    if (one === undefined || other === undefined) throw new Error('two files are required');
    const { settings, scratch, signal, output, progress } = context;
    const { mode, dpi, threshold, password: secret } = settings;
    const compare = mode === 'visual' ? compareLooks : compareTexts;
    const report = await compare(one, other, output(`${one.stem}-comparison.pdf`), {
      ...{ dpi, threshold, password: secret, scratch, signal },
      onProgress: (fraction) => progress(fraction * 95),
    });
    await writeFile(output(`${one.stem}-comparison.json`), `${JSON.stringify(report, null, 2)}\n`);
  },
});
