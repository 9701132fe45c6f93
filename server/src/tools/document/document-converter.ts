import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { convertOffice, libreoffice, type OfficeFormat } from '../../engines/libreoffice.ts';
import { convertMarkup, isPandocInput, isPandocOutput, pandoc } from '../../engines/pandoc.ts';
import { extensionOf, type FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFacts, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag, type Values } from '../settings.ts';
import { documentPassword } from './document-password.ts';

const formats = ['docx', 'odt', 'rtf', 'txt', 'html', 'md', 'pdf', 'epub'] as const;
type Format = (typeof formats)[number];

const settings = {
  format: choice({ describe: 'The format to write.', of: formats, required: true }),
  toc: flag({ describe: 'Put a table of contents in front.', default: false }),
  reference_doc: choice({
    describe: 'Take the styles of the last file sent, a DOCX or ODT as the output, which is then not converted itself.',
    of: ['none', 'last_file'],
    default: 'none',
  }),
  password: documentPassword(),
};
type Settings = Values<typeof settings>;

/** LibreOffice keeps how a document looks; Pandoc reads and writes the formats that only say what it is made of. */
const officeInputs: readonly FileTypeId[] = ['docx', 'doc', 'odt', 'rtf', 'txt', 'encrypted_office'];
const officeOutputs: readonly Format[] = ['docx', 'odt', 'rtf', 'txt', 'pdf'];

type Step = { engine: 'office' | 'pandoc'; from: FileTypeId; to: Format };

/**
 * The way from a format to another. LibreOffice alone where it can; a table of contents and foreign styles are Pandoc's.
 * DOCX is the bridge: to Pandoc from what only LibreOffice reads, and from Pandoc to what only LibreOffice writes.
 */
function route(from: FileTypeId, { format, toc, reference_doc: styles }: Settings): Step[] {
  if (officeInputs.includes(from) && officeOutputs.includes(format) && !toc && styles === 'none') {
    return [{ engine: 'office', from, to: format }];
  }
  const steps: Step[] = isPandocInput(from) ? [] : [{ engine: 'office', from, to: 'docx' }];
  const middle = isPandocOutput(format) ? format : 'docx';
  steps.push({ engine: 'pandoc', from: isPandocInput(from) ? from : 'docx', to: middle });
  if (middle !== format) steps.push({ engine: 'office', from: 'docx', to: format });
  return steps;
}

export default defineTool({
  slug: 'document-converter',
  name: 'Document Converter',
  category: 'document',
  description: 'Turns documents into other formats: Word, OpenDocument, RTF, text, HTML, Markdown, PDF and EPUB.',
  accepts: [...officeInputs, 'html', 'md', 'rst', 'tex', 'epub'],
  produces: formats,
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [],
  optionalEngines: [libreoffice, pandoc],
  enginesFor: (values, inputs) => {
    const used = new Set(
      converted(values, inputs)
        .flatMap(({ type }) => route(type, values))
        .map(({ engine }) => engine),
    );
    return [...(used.has('office') ? [libreoffice] : []), ...(used.has('pandoc') ? [pandoc] : [])];
  },
  settings,
  check({ format, reference_doc: styles }, inputs) {
    if (styles === 'none') return {};
    if (format !== 'docx' && format !== 'odt') return { reference_doc: ['is for docx and odt only'] };
    if (inputs.length < 2)
      return { reference_doc: ['needs two files: what to convert, and last the one with the styles'] };
    return inputs.at(-1)?.type === format ? {} : { reference_doc: [`the last file must be ${format} as the output`] };
  },
  async run(context) {
    const reference = context.settings.reference_doc === 'none' ? undefined : context.inputs.at(-1);
    await eachInput(
      context,
      (input) => convert(context, input, reference?.path),
      converted(context.settings, context.inputs),
    );
  },
});

/** The inputs without the one that gives the styles. */
function converted<T extends InputFacts>({ reference_doc: styles }: Settings, inputs: readonly T[]): readonly T[] {
  return styles === 'none' ? inputs : inputs.slice(0, -1);
}

async function convert(
  { settings: values, output, scratch, signal }: ToolContext<Settings>,
  input: InputFile,
  referencePath: string | undefined,
): Promise<void> {
  const { filename, stem } = input;
  const steps = route(input.type, values);
  const target = output(`${stem}.${extensionOf(values.format)}`);
  let { path } = input;
  for (const [index, { engine, from, to }] of steps.entries()) {
    const last = index === steps.length - 1;
    const written = last ? target : join(scratch, `step-${index}.docx`);
    const document = { path, filename, type: from };
    if (engine === 'office') {
      const { password } = values;
      const format: OfficeFormat = to as OfficeFormat;
      const options = { module: 'writer', changes: 'accept', updateIndexes: values.toc, password } as const;
      await convertOffice(document, { ...options, format, ...textExport(format), target: written, scratch, signal });
    } else if (isPandocInput(from) && isPandocOutput(to)) {
      const options = { format: to, toc: values.toc, title: stem, referencePath, target: written, scratch, signal };
      await convertMarkup({ path, filename, type: from }, options);
    }
    if (index > 0) await rm(path, { force: true });
    path = written;
  }
}

/** UTF-8 with plain line ends and without a byte order mark, as every other text we write. */
function textExport(format: OfficeFormat): { filterOptions?: string } {
  return format === 'txt' ? { filterOptions: 'UTF8,LF,,,false,false' } : {};
}
