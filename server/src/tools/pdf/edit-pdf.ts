import { maxPages, openPdf, savePdf, type PdfFile } from '../../engines/pdf-lib.ts';
import { dropSignatures } from '../../engines/pdf-edit.ts';
import { Failure } from '../../lib/failure.ts';
import type { InputFile, ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { selectPages } from '../page-ranges.ts';
import { text } from '../settings.ts';

/** For tools that need a file's password only to read it. */
export const password = text({
  describe: 'The password of encrypted files; what is made of them is not encrypted.',
  secret: true,
  max: 127,
});

interface WithPassword {
  password: string | undefined;
}

/** Opens one input of a tool that has the `password` setting. */
export function openInput(
  { path, filename }: InputFile,
  { scratch, settings }: Pick<ToolContext<WithPassword>, 'scratch' | 'settings'>,
): Promise<PdfFile> {
  return openPdf({ path, filename, scratch, password: settings.password });
}

/**
 * Opens every input, lets `change` alter it in place and writes it under its own name: what is not altered stays, down to
 * attachments and tags; `after` may add further outputs. A signature signs the file as it was, so its field becomes empty.
 */
export function editEach(
  context: ToolContext<WithPassword>,
  change: (file: PdfFile, input: InputFile) => Promise<void> | void,
  inputs: readonly InputFile[] = context.inputs,
  after: (file: PdfFile, input: InputFile) => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  return eachInput(
    context,
    async (input) => {
      const file = await openInput(input, context);
      await change(file, input);
      const dropped = await dropSignatures(file);
      if (dropped > 0) context.log(`${dropped} signatures removed: they would show as broken`);
      await savePdf(file.context, context.output(`${input.stem}.pdf`));
      await after(file, input);
    },
    inputs,
  );
}

/**
 * The pages that ranges select in an open file, 0-based, order and duplicates kept.
 *
 * @throws Failure `invalid_input` for a page it does not have; `resource_limit` for more pages than a file may have.
 */
export function chosenPages(ranges: string, { filename, pages }: PdfFile): number[] {
  const chosen = selectPages(ranges, pages.length, filename);
  if (chosen.length <= maxPages) return chosen;
  throw new Failure('resource_limit', `More than ${maxPages} pages of ${filename} are asked for.`, { file: filename });
}

export const pointsPerMm = 72 / 25.4;
