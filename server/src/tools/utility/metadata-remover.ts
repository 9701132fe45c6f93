import { readFile, writeFile } from 'node:fs/promises';
import { exiftool, stripImage, strippableImages, type KeptMetadata } from '../../engines/exiftool.ts';
import { ffmpeg } from '../../engines/ffmpeg.ts';
import { stripMetadata } from '../../engines/image-metadata.ts';
import { openImage } from '../../engines/images.ts';
import { audioTypes, videoTypes } from '../../engines/media/media-types.ts';
import { probe } from '../../engines/media/probe.ts';
import { stripMedia } from '../../engines/media/strip-media.ts';
import { stripOfficeDocument } from '../../engines/office-metadata.ts';
import { writeProperties } from '../../engines/pdf-edit.ts';
import { openPdf, pdfLib, savePdf } from '../../engines/pdf-lib.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { flag, text, type Values } from '../settings.ts';

const documents = ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp'] as const satisfies readonly FileTypeId[];

const settings = {
  keep_orientation: flag({ default: true, describe: 'Keep which side of a picture is up.' }),
  keep_icc: flag({ default: true, describe: 'Keep the colour profile of a picture.' }),
  keep: text({
    max: 500,
    pattern: /^[A-Za-z][A-Za-z0-9:_-]*(\s*,\s*[A-Za-z][A-Za-z0-9:_-]*)*$/,
    patternHint: 'must be names of tags, separated by commas, such as Copyright,Artist',
    describe: 'Further tags of pictures to keep, separated by commas, such as Copyright,Artist.',
  }),
};

export default defineTool({
  slug: 'metadata-remover',
  name: 'Metadata Remover',
  category: 'utility',
  description:
    'Removes who, where, when and with what from pictures, PDFs, office documents, audio and video; what they show stays as it is.',
  accepts: [...strippableImages, 'webp', 'pdf', ...documents, 'encrypted_office', ...videoTypes, ...audioTypes],
  produces: [...strippableImages, 'webp', 'pdf', ...documents, ...videoTypes, ...audioTypes],
  files: { min: 1, max: 50 },
  timeoutSeconds: 900,
  engines: [exiftool, pdfLib, qpdf, sharpEngine],
  optionalEngines: [ffmpeg],
  enginesFor: (_settings, inputs) => (inputs.some(({ type }) => isMedia(type)) ? [ffmpeg] : []),
  settings,
  run: (context) => eachInput(context, (input) => strip(input, context)),
});

type Context = ToolContext<Values<typeof settings>>;

function strip(input: InputFile, context: Context): Promise<void> {
  const { type, filename } = input;
  if (type === 'webp') return stripWebpFile(input, context);
  if (type === 'pdf') return stripPdf(input, context);
  if (isMedia(type)) return stripMediaFile(input, context);
  if (isDocument(type)) return stripOfficeDocument(input, context.output(filename), context.signal);
  if (type !== 'encrypted_office') return stripImage(input, context.output(filename), keptOf(context), context.signal);
  throw new Failure('password_required', `"${filename}" is encrypted; remove its password first.`, { file: filename });
}

function isMedia(type: FileTypeId): boolean {
  return [...videoTypes, ...audioTypes].some((known) => known === type);
}

function isDocument(type: FileTypeId): boolean {
  return documents.some((known) => known === type);
}

function keptOf({ settings: { keep_orientation, keep_icc, keep } }: Context): KeptMetadata {
  const tags = keep === undefined ? [] : keep.split(',').map((tag) => tag.trim());
  return { orientation: keep_orientation, profile: keep_icc, tags };
}

async function stripWebpFile(input: InputFile, context: Context): Promise<void> {
  const kept = keptOf(context);
  const { pipeline } = await openImage(input, context, { animated: false });
  const { orientation = 1 } = await pipeline.metadata();
  const facts = { orientation: kept.orientation ? orientation : 1, dropsProfile: !kept.profile };
  await writeFile(context.output(input.filename), stripMetadata(await readFile(input.path), 'webp', facts));
}

async function stripPdf({ path, filename }: InputFile, { scratch, output }: Context): Promise<void> {
  const file = await openPdf({ path, filename, scratch });
  await writeProperties(file, {}, true);
  await savePdf(file.context, output(filename));
}

async function stripMediaFile(input: InputFile, { signal, progress, inputs, output }: Context): Promise<void> {
  const onProgress = (percent: number) => {
    if (inputs.length === 1) progress(percent);
  };
  await stripMedia(await probe(input, signal), output(input.filename), { signal, onProgress });
}
