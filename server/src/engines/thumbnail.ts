import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileTypeId } from '../lib/media-types.ts';
import { Failure } from '../lib/failure.ts';
import { runFfmpeg, seekTo } from './ffmpeg.ts';
import { type ImageFile, type OpenImage, type Workspace, imageFrom, openImage } from './images.ts';
import { videoTypes } from './media/media-types.ts';
import { closingFilters, evenSize, openingFilters, shownSize } from './media/picture.ts';
import { probe } from './media/probe.ts';
import { readPdf } from './pdfium.ts';
import { loadSharp, openWithSharp } from './sharp.ts';

/** How far into a video its picture is taken: the first frame is often black. */
const videoPosition = 0.1;

export function isVideo(type: FileTypeId): boolean {
  return videoTypes.some((video) => video === type);
}

/**
 * What stands for a file in a list: an image itself, the first page of a PDF, a picture from a video. `side` is how many
 * pixels its longer side needs, for what is drawn first.
 *
 * @throws Failure as `openImage`, `readPdf` and `probe`.
 */
export async function openPreview(file: ImageFile, workspace: Workspace, side: number): Promise<OpenImage> {
  if (file.type === 'pdf') return firstPage(file, workspace, side);
  if (isVideo(file.type)) return videoPicture(file, workspace);
  return openImage(file, workspace, { animated: false });
}

async function firstPage(file: ImageFile, workspace: Workspace, side: number): Promise<OpenImage> {
  const { path, filename } = file;
  const page = await readPdf({ path, filename, scratch: workspace.scratch }, async (reader) => {
    if (reader.pageCount === 0) throw new Failure('invalid_input', `"${filename}" has no pages.`, { file: filename });
    const { width, height } = reader.pageSize(0);
    // Twice as fine as asked for: thin lines survive when it is made smaller.
    const dpi = (72 * 2 * side) / Math.max(1, Math.min(width, height));
    return reader.render(0, { dpi: Math.min(300, Math.max(10, dpi)), transparent: false });
  });
  const { width, height, channels, pixels } = page;
  const sharp = await loadSharp();
  return imageFrom(sharp(pixels, { raw: { width, height, channels } }), file, workspace);
}

async function videoPicture(file: ImageFile, workspace: Workspace): Promise<OpenImage> {
  const { filename } = file;
  const { videos, durationSeconds } = await probe(file, workspace.signal);
  const [picture] = videos;
  if (picture === undefined) throw new Failure('invalid_input', `"${filename}" has no picture.`, { file: filename });
  const filters = [...openingFilters(picture), ...closingFilters(picture, { size: evenSize(shownSize(picture)) })];
  const path = join(workspace.scratch, 'frame.png');
  for (const seconds of [durationSeconds * videoPosition, 0]) {
    await rm(path, { force: true }); // A frame of the file before must not stand for this one.
    await runFfmpeg({
      inputs: [{ source: file, options: seekTo(seconds) }],
      args: ['-map', `0:${picture.index}`, '-frames:v', '1', '-vf', filters.join(','), '-c:v', 'png', '-update', '1'],
      output: { muxer: 'image2', path },
      signal: workspace.signal,
    });
    const opened = await openWithSharp(path)
      .then(async (frame) => imageFrom(frame, file, workspace))
      .catch(() => undefined);
    if (opened !== undefined) return opened;
  }
  throw new Failure('invalid_input', `"${filename}" has no picture that can be read.`, { file: filename });
}
