import { readFile, writeFile } from 'node:fs/promises';
import { PDFDocument } from '@cantoo/pdf-lib';

export interface EmbeddedFile {
  filename: string;
  mediaType: string;
  content: Buffer;
}

/** Puts files into a PDF of our own as its attachments, in place. Names that clash get `-1`, `-2`, …. */
export async function embedFiles(path: string, files: readonly EmbeddedFile[]): Promise<void> {
  const document = await PDFDocument.load(await readFile(path), { updateMetadata: false });
  const taken = new Set<string>();
  for (const { filename, mediaType, content } of files) {
    await document.attach(content, uniqueName(filename, taken), { mimeType: mediaType });
  }
  await writeFile(path, await document.save());
}

function uniqueName(filename: string, taken: Set<string>): string {
  const dot = filename.lastIndexOf('.');
  const [stem, extension] = dot > 0 ? [filename.slice(0, dot), filename.slice(dot)] : [filename, ''];
  let candidate = filename;
  for (let n = 1; taken.has(candidate); n++) candidate = `${stem}-${n}${extension}`;
  taken.add(candidate);
  return candidate;
}
