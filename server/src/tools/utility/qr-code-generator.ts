import { openImage } from '../../engines/images.ts';
import { maxListBytes, readLineList } from '../../engines/line-list.ts';
import {
  contrast,
  encodeQr,
  errorCorrections,
  qrEngine,
  writeQr,
  type ErrorCorrection,
} from '../../engines/qr-code.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import type { FieldErrors } from '../../lib/errors.ts';
import { Failure } from '../../lib/failure.ts';
import { defineTool, type InputFacts, type InputFile, type ToolContext } from '../define.ts';
import { choice, color, int, text, type Values } from '../settings.ts';

const settings = {
  text: text({
    max: 2953,
    maxBytes: 2953,
    describe: 'What the code says, such as an address; required unless a list is sent.',
  }),
  size: int({ min: 64, max: 4096, default: 512, describe: 'Width and height of the picture in pixels.' }),
  margin: int({ min: 0, max: 16, default: 4, describe: 'Quiet zone in modules; readers want 4.' }),
  ecc: choice({
    of: errorCorrections,
    default: 'M',
    describe: 'How much may be lost and still be read: 7, 15, 25 or 30 per cent. A logo makes it at least Q.',
  }),
  dark: color({ default: '#000000', describe: 'Colour of the code.' }),
  light: color({ transparent: true, default: '#ffffff', describe: 'Colour behind the code.' }),
  format: choice({ of: ['png', 'svg', 'pdf'], default: 'png', describe: 'The format to return.' }),
};
type Settings = Values<typeof settings>;

const maxCodes = 1000;
/** Below this, phones fail to tell dark from light. */
const lowestContrast = 2;

export default defineTool({
  slug: 'qr-code-generator',
  name: 'QR Code Generator',
  category: 'utility',
  description: 'Makes QR codes from a text or from every line of a list, with an optional logo.',
  accepts: ['txt', 'csv', 'png', 'jpeg', 'svg'],
  produces: ['png', 'svg', 'pdf'],
  files: { min: 0, max: 1 },
  timeoutSeconds: 300,
  engines: [qrEngine, sharpEngine],
  settings,
  check: checkSettings,
  async run(context) {
    const [file] = context.inputs;
    if (file !== undefined && isList(file)) return makeList(context, file);
    const logo = file === undefined ? undefined : await readLogo(context, file);
    await makeCode(context, context.settings.text ?? '', 'qr-code', logo);
  },
});

function isList({ type }: Pick<InputFacts, 'type'>): boolean {
  return type === 'txt' || type === 'csv';
}

function checkSettings({ text: words, ecc, dark, light }: Settings, inputs: readonly InputFacts[]): FieldErrors {
  const [file] = inputs;
  if (contrast(dark, light) < lowestContrast) return { dark: ['differs too little from light to be read'] };
  if (file !== undefined && isList(file)) {
    if (words !== undefined) return { text: ['cannot be combined with a list'] };
    return file.sizeBytes > maxListBytes ? { 'files.0': ['is larger than the 5 MB a list may have'] } : {};
  }
  if (words === undefined) return { text: ['is required when no list is sent'] };
  const level = file === undefined ? ecc : readableWithLogo(ecc);
  return encodeQr(words, level) === undefined ? { text: [tooLong(level)] } : {};
}

/** A logo covers part of the code, which error correction has to make good. */
function readableWithLogo(ecc: ErrorCorrection): ErrorCorrection {
  return ecc === 'H' ? 'H' : 'Q';
}

function tooLong(level: ErrorCorrection): string {
  return `is too long for a QR code with error correction ${level}`;
}

async function readLogo(context: ToolContext<Settings>, file: InputFile): Promise<Buffer> {
  const edge = Math.min(1024, context.settings.size);
  const image = await openImage(file, context, { animated: false, dpi: 384 });
  const clear = { r: 0, g: 0, b: 0, alpha: 0 };
  return image.pipeline.ensureAlpha().resize(edge, edge, { fit: 'contain', background: clear }).png().toBuffer();
}

async function makeList(context: ToolContext<Settings>, file: InputFile): Promise<void> {
  const lines = await readLineList(file, maxCodes);
  const digits = String(lines.length).length;
  for (const [index, line] of lines.entries()) {
    context.signal.throwIfAborted();
    await makeCode(context, line, `${file.stem}-${String(index + 1).padStart(digits, '0')}`, undefined);
    context.progress(((index + 1) / lines.length) * 100);
  }
}

async function makeCode(
  context: ToolContext<Settings>,
  words: string,
  stem: string,
  logo: Buffer | undefined,
): Promise<void> {
  const { size, margin, ecc, dark, light, format } = context.settings;
  const level = logo === undefined ? ecc : readableWithLogo(ecc);
  const matrix = encodeQr(words, level);
  if (matrix === undefined) throw new Failure('invalid_input', `The text "${words.slice(0, 40)}…" ${tooLong(level)}.`);
  await writeQr(matrix, context.output(`${stem}.${format}`), format, { size, margin, dark, light, logo });
}
