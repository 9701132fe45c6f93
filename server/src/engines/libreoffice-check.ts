import { open } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import type { OfficeFormat } from './libreoffice-formats.ts';

/** How a whole file of a format begins, and what is near its end. */
interface Frame {
  head: string;
  tail: string;
}

const zip: Frame = { head: 'PK\x03\x04', tail: 'PK\x05\x06' };
const compound: Frame = { head: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', tail: '' };

/** Text and CSV have no frame: of them only an empty file shows. */
const frames: Record<OfficeFormat, Frame | undefined> = {
  pdf: { head: '%PDF-', tail: '%%EOF' },
  png: { head: '\x89PNG', tail: 'IEND' },
  docx: zip,
  odt: zip,
  xlsx: zip,
  ods: zip,
  pptx: zip,
  odp: zip,
  doc: compound,
  xls: compound,
  ppt: compound,
  rtf: { head: '{\\rtf', tail: '}' },
  html: { head: '<!DOCTYPE html', tail: '</html>' },
  txt: undefined,
  csv: undefined,
};

const tailBytes = 1024;

/**
 * LibreOffice says "done" on a full disk too: what it wrote must be whole.
 *
 * @throws Failure `engine_failed`; `invalid_input` when there was nothing to write as text.
 */
export async function checkOfficeOutput(path: string, format: OfficeFormat, filename: string): Promise<void> {
  const file = await open(path, 'r').catch(() => undefined);
  try {
    const size = file === undefined ? 0 : (await file.stat()).size;
    const frame = frames[format];
    if (frame === undefined && file !== undefined) {
      if (size > 0) return;
      throw new Failure('invalid_input', `${filename} holds no text.`, { file: filename });
    }
    const head = await file?.read(Buffer.alloc(16), 0, 16, 0);
    const tail = await file?.read(Buffer.alloc(tailBytes), 0, tailBytes, Math.max(0, size - tailBytes));
    const begins = head?.buffer.toString('latin1').startsWith(frame?.head ?? '') === true;
    if (size > 0 && begins && tail?.buffer.includes(Buffer.from(frame?.tail ?? '', 'latin1')) === true) return;
  } finally {
    await file?.close();
  }
  const message = `LibreOffice wrote no complete ${format.toUpperCase()} file of ${filename}.`;
  throw new Failure('engine_failed', message, { file: filename });
}
