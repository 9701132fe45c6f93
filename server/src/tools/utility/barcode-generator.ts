import { writeFile } from 'node:fs/promises';
import { barcodeTypes, bwip, writeBarcode } from '../../engines/barcodes.ts';
import { maxListBytes, readLineList } from '../../engines/line-list.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { choice, flag, int, text, type Values } from '../settings.ts';

const maxCodes = 1000;

const settings = {
  type: choice({ of: barcodeTypes, default: 'code128', describe: 'The kind of code.' }),
  text: text({
    max: 2000,
    describe: 'What the code says, such as 5901234123457 for ean13; required unless a list is sent.',
  }),
  scale: int({ min: 1, max: 10, default: 3, describe: 'Size of the narrowest bar; 3 prints well.' }),
  show_text: flag({ default: true, describe: 'Write the text below the bars, where the kind has room for it.' }),
  format: choice({ of: ['png', 'svg'], default: 'png', describe: 'The format to return.' }),
};

export default defineTool({
  slug: 'barcode-generator',
  name: 'Barcode Generator',
  category: 'utility',
  description: 'Makes bar codes from a text or from every line of a list.',
  accepts: ['txt', 'csv'],
  produces: ['png', 'svg'],
  files: { min: 0, max: 1 },
  timeoutSeconds: 300,
  engines: [bwip],
  settings,
  check({ text: words }, [file]) {
    if (file === undefined) return words === undefined ? { text: ['is required when no list is sent'] } : {};
    if (words !== undefined) return { text: ['cannot be combined with a list'] };
    return file.sizeBytes > maxListBytes ? { 'files.0': ['is larger than the 5 MB a list may have'] } : {};
  },
  async run(context) {
    const [list] = context.inputs;
    if (list !== undefined) return makeList(context, list);
    await makeCode(context, context.settings.text ?? '', 'barcode');
  },
});

type Context = ToolContext<Values<typeof settings>>;

async function makeList(context: Context, list: InputFile): Promise<void> {
  const lines = await readLineList(list, maxCodes);
  const digits = String(lines.length).length;
  for (const [index, line] of lines.entries()) {
    context.signal.throwIfAborted();
    await makeCode(context, line.trim(), `${list.stem}-${String(index + 1).padStart(digits, '0')}`);
    context.progress(((index + 1) / lines.length) * 100);
  }
}

async function makeCode({ settings: style, output }: Context, words: string, stem: string): Promise<void> {
  const code = await writeBarcode(words, { ...style, showText: style.show_text });
  await writeFile(output(`${stem}.${style.format}`), code);
}
