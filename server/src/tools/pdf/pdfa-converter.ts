import { ghostscript } from '../../engines/ghostscript.ts';
import { convertOffice, libreoffice, libreofficeCalc, libreofficeImpress } from '../../engines/libreoffice.ts';
import { checkPdfa, declareUnicode, hasUnicode, losses, pdfaLevels, writePdfa } from '../../engines/pdfa.ts';
import { pdfLib } from '../../engines/pdf-lib.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag } from '../settings.ts';
import { openInput, password } from './edit-pdf.ts';

const offices = [
  { engine: libreoffice, module: 'writer', types: ['docx', 'doc', 'odt', 'rtf'] },
  { engine: libreofficeCalc, module: 'calc', types: ['xlsx', 'xls', 'ods'] },
  { engine: libreofficeImpress, module: 'impress', types: ['pptx', 'ppt', 'odp'] },
] as const;

const officeFor = (type: FileTypeId) => offices.find(({ types }) => (types as readonly FileTypeId[]).includes(type));

export default defineTool({
  slug: 'pdfa-converter',
  name: 'PDF/A Converter',
  category: 'pdf',
  description:
    'Writes PDFs and office documents as PDF/A for archives: fonts embedded, colours defined. The result is checked for its main rules, not by a full validator; fields and comments become part of the pages.',
  accepts: ['pdf', ...offices.flatMap(({ types }) => types)],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [pdfLib, qpdf, pdfium],
  optionalEngines: [ghostscript, libreoffice, libreofficeCalc, libreofficeImpress],
  enginesFor: (_, inputs) => [...new Set(inputs.map(({ type }) => officeFor(type)?.engine ?? ghostscript))],
  settings: {
    level: choice({
      of: pdfaLevels,
      default: '2b',
      describe: 'The part of the standard; 2u also wants that all text can be searched and copied.',
    }),
    allow_downgrade: flag({
      describe:
        'Leave out what the level forbids, and write 2b where 2u cannot be reached; else such files are refused.',
      default: true,
    }),
    password,
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { scratch, signal } = context;
      const { level, allow_downgrade: mayLose } = context.settings;
      const { filename } = input;
      const target = context.output(`${input.stem}.pdf`);
      const options = { filename, level, scratch, signal };
      const office = officeFor(input.type);
      let pages: number | undefined;
      if (office === undefined) {
        const file = await openInput(input, context);
        pages = file.pages.length;
        const lost = await losses(file, level);
        if (lost.length > 0 && !mayLose) throw refusal(filename, level, `it would lose ${lost.join(', ')}`);
        const left = await writePdfa(file, target, options);
        if (left.length > 0 && !mayLose) throw refusal(filename, level, 'it would lose a part', left.join('\n'));
        if (lost.length + left.length > 0) context.log(`left out: ${[...lost, ...left].join('; ')}`);
      } else {
        const data = { SelectPdfVersion: Number(level[0]) };
        const { password: secret } = context.settings;
        const how = { module: office.module, format: 'pdf', target, data, scratch, signal, password: secret } as const;
        await convertOffice(input, how);
      }
      const isSearchable = level !== '2u' || (await hasUnicode(target, options));
      if (!isSearchable && !mayLose) throw refusal(filename, level, 'some of its letters do not say which they are');
      if (!isSearchable) context.log('2b instead of 2u: some letters do not say which they are');
      if (level === '2u' && isSearchable) await declareUnicode(target);
      await checkPdfa(target, isSearchable ? level : '2b', pages, options);
    }),
});

function refusal(file: string, level: string, why: string, log?: string): Failure {
  const message = `${file} cannot become PDF/A-${level} as it is: ${why}.`;
  return new Failure('invalid_input', message, log === undefined ? { file } : { file, log });
}
