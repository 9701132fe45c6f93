import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileTypeId } from '../lib/media-types.ts';
import { readTextHead } from '../lib/text-encoding.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { openFont } from './fonts/font-file.ts';
import { drawSample } from './fonts/inspect.ts';
import { openImage, type ImageFile, type OpenImage, type Workspace } from './images.ts';
import { convertOffice } from './libreoffice.ts';
import { audioTypes } from './media/media-types.ts';
import { openPreview } from './thumbnail.ts';
import { drawTextPage } from './text-page.ts';

export const officeTypes = [
  'docx',
  'doc',
  'odt',
  'rtf',
  'xlsx',
  'xls',
  'ods',
  'pptx',
  'ppt',
  'odp',
  'encrypted_office',
] as const satisfies readonly FileTypeId[];
export const fontTypes = ['ttf', 'otf', 'woff', 'woff2'] as const satisfies readonly FileTypeId[];
export const textTypes = [
  'txt',
  'md',
  'csv',
  'tsv',
  'json',
  'yaml',
  'xml',
  'html',
  'css',
  'js',
  'typescript',
  'sql',
  'srt',
  'vtt',
] as const satisfies readonly FileTypeId[];

const fontSample = 'AaBbCc 123';

type Open = (file: ImageFile, workspace: Workspace, side: number) => Promise<OpenImage>;

/**
 * What a file looks like, whatever it is: a picture, the first page of a document or a text, a frame of a video, the
 * waveform of a sound, a word in a font. `side` is how many pixels its longer side needs.
 *
 * @throws Failure as the engine of its kind.
 */
export async function openAnyPreview(file: ImageFile, workspace: Workspace, side: number): Promise<OpenImage> {
  const open = openers.find(([types]) => types.some((type) => type === file.type))?.[1] ?? openPreview;
  return open(file, workspace, side);
}

const openers: readonly (readonly [readonly FileTypeId[], Open])[] = [
  [officeTypes, officePreview],
  [fontTypes, fontPreview],
  [textTypes, textPreview],
  [audioTypes, soundPreview],
];

async function officePreview(file: ImageFile, workspace: Workspace, side: number): Promise<OpenImage> {
  const path = join(workspace.scratch, 'preview.pdf');
  await convertOffice(file, { ...workspace, format: 'pdf', target: path, selectPages: () => [0] });
  return openPreview({ ...file, path, type: 'pdf' }, workspace, side);
}

async function fontPreview(file: ImageFile, workspace: Workspace): Promise<OpenImage> {
  return drawing(await drawSample(await openFont(file, workspace), fontSample), file, workspace);
}

async function textPreview(file: ImageFile, workspace: Workspace): Promise<OpenImage> {
  return drawing(drawTextPage(await readTextHead(file.path)), file, workspace);
}

async function drawing(svg: string, file: ImageFile, workspace: Workspace): Promise<OpenImage> {
  const path = join(workspace.scratch, 'preview.svg');
  await writeFile(path, svg);
  return openImage({ ...file, path, type: 'svg' }, workspace);
}

const waveform = { width: 800, height: 400, colour: '3366ff' };

async function soundPreview(file: ImageFile, workspace: Workspace): Promise<OpenImage> {
  const path = join(workspace.scratch, 'preview.png');
  const { width, height, colour } = waveform;
  await runFfmpeg({
    inputs: [{ source: file }],
    args: [
      ...['-filter_complex', `[0:a:0]showwavespic=s=${width}x${height}:split_channels=0:colors=0x${colour}`],
      ...['-frames:v', '1', '-c:v', 'png', '-update', '1'],
    ],
    output: { muxer: 'image2', path },
    signal: workspace.signal,
  });
  return openImage({ ...file, path, type: 'png' }, workspace);
}
