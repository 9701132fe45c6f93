import { pdfLib } from '../../engines/pdf-lib.ts';
import { openIdentity, signPdf, stampSignature } from '../../engines/pdf-sign.ts';
import { nodeForge } from '../../engines/pkcs12.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { defineTool, type InputFacts } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, int, num, text } from '../settings.ts';
import { editEach, password } from './edit-pdf.ts';

const isImage = ({ type }: InputFacts) => type === 'png' || type === 'jpeg';
const isCertificate = ({ type }: InputFacts) => type === 'p12';
const isPdf = ({ type }: InputFacts) => type === 'pdf';

function problemWith(mode: 'image' | 'pades', inputs: readonly InputFacts[]): string | undefined {
  const [images, certificates] = [inputs.filter(isImage).length, inputs.filter(isCertificate).length];
  if (!inputs.some(isPdf)) return 'needs at least one PDF';
  if (mode === 'image' && (images !== 1 || certificates > 0))
    return 'image needs exactly one PNG or JPEG with the PDFs';
  if (mode === 'pades' && (certificates !== 1 || images > 1)) {
    return 'pades needs exactly one .p12 certificate with the PDFs, and at most one PNG or JPEG';
  }
  return undefined;
}

export default defineTool({
  slug: 'pdf-signer',
  name: 'PDF Signer',
  category: 'pdf',
  description:
    'Puts the picture of a signature on a page, or signs with a certificate (PAdES B-B, without a time stamp): send the picture or the .p12 file with the PDFs.',
  accepts: ['pdf', 'p12', 'png', 'jpeg'],
  produces: ['pdf'],
  files: { min: 2, max: 52 },
  timeoutSeconds: 300,
  engines: [pdfLib, qpdf, sharpEngine, nodeForge],
  settings: {
    mode: choice({
      of: ['image', 'pades'],
      default: 'image',
      describe: 'Draw the picture only, or sign with the certificate, shown by a picture if one is sent.',
    }),
    page: int({ min: -20_000, max: 20_000, default: -1, describe: 'The page of the picture; -1 is the last.' }),
    x: num({ min: 0, max: 14_400, default: 36, describe: 'Points from the left edge of the page to the picture.' }),
    y: num({ min: 0, max: 14_400, default: 36, describe: 'Points from the lower edge of the page to the picture.' }),
    width: num({ min: 1, max: 14_400, default: 150, describe: 'The width of the picture in points.' }),
    reason: text({ max: 200, describe: 'In pades mode, why it is signed.' }),
    certificate_password: text({ secret: true, max: 200, describe: 'The password of the .p12 file.' }),
    password,
  },
  check({ mode, page, reason, certificate_password: secret }, inputs): FieldErrors {
    const problem = problemWith(mode, inputs);
    return {
      ...(problem === undefined ? {} : { mode: [problem] }),
      ...(page === 0 ? { page: ['must not be 0: pages count from 1, or from the end with -1'] } : {}),
      ...(mode === 'image' && reason !== undefined ? { reason: ['only works with mode=pades'] } : {}),
      ...(mode === 'image' && secret !== undefined ? { certificate_password: ['only works with mode=pades'] } : {}),
    };
  },
  async run(context) {
    const { inputs, settings, scratch, output } = context;
    const { mode, page, x, y, width, reason } = settings;
    const pdfs = inputs.filter(isPdf);
    const image = inputs.find(isImage);
    const place = image && { image, x, y, width };
    if (mode === 'image' && place !== undefined) {
      await editEach(context, (file) => stampSignature(file, page, place, context), pdfs);
      return;
    }
    const certificate = inputs.find(isCertificate);
    if (certificate === undefined) throw new Error('a certificate is required');
    const identity = await openIdentity(certificate, settings.certificate_password);
    await eachInput(
      context,
      async ({ path, filename, stem }) => {
        const source = { path, filename, scratch, password: settings.password };
        await signPdf(source, { identity, page, place, reason }, output(`${stem}.pdf`), context);
      },
      pdfs,
    );
  },
});
