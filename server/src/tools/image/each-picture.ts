import { pagesOf, writePages } from '../../engines/image-pages.ts';
import { type ImageFile, type ImageFormat, keptFormat } from '../../engines/images.ts';
import { extensionOf } from '../../lib/media-types.ts';
import type { InputFile, ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';

/** A picture of an input: its only one, or a page of a TIFF. */
export type Picture = InputFile & ImageFile;

/** One file to write, and what goes into it. */
export interface Result {
  /** Several only for a TIFF. */
  pictures: Picture[];
  path: string;
  format: ImageFormat;
}

/** The pictures of an input; several are named after it with their numbers: `scan-1`, `scan-2`. */
export async function picturesOf(input: InputFile): Promise<Picture[]> {
  const pages = await pagesOf<Picture>(input);
  if (pages.length === 1) return pages;
  const digits = String(pages.length).length;
  return pages.map((page, index) => ({ ...page, stem: `${input.stem}-${String(index + 1).padStart(digits, '0')}` }));
}

/** What an input becomes: a TIFF keeps its pages together, another format takes a file for each. */
export async function resultsOf(
  input: InputFile,
  wanted: ImageFormat | 'keep',
  { output }: Pick<ToolContext<unknown>, 'output'>,
): Promise<Result[]> {
  const format = wanted === 'keep' ? keptFormat(input.type) : wanted;
  const pathOf = ({ stem }: InputFile) => output(`${stem}.${extensionOf(format)}`);
  const pictures = await picturesOf(input);
  if (format === 'tiff') return [{ pictures, path: pathOf(input), format }];
  return pictures.map((picture) => ({ pictures: [picture], path: pathOf(picture), format }));
}

/** Writes every picture of every input, in a format or in its own (`keep`). */
export function eachPicture(
  context: ToolContext<unknown>,
  wanted: ImageFormat | 'keep',
  write: (picture: Picture, path: string, format: ImageFormat) => Promise<unknown>,
  inputs: readonly InputFile[] = context.inputs,
): Promise<void> {
  const work = async (input: InputFile, onShare: (share: number) => void) => {
    const results = await resultsOf(input, wanted, context);
    const count = results.reduce((sum, { pictures }) => sum + pictures.length, 0);
    let done = 0;
    for (const { pictures, path, format } of results) {
      context.signal.throwIfAborted();
      await writePages(pictures, path, { file: input, workspace: context }, async (picture, target) => {
        await write(picture, target, format);
        onShare(++done / count);
      });
    }
  };
  return eachInput(context, work, inputs);
}
