import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../lib/clock.ts';
import { Failure } from '../lib/failure.ts';
import { signDetached, signatureSize } from './cms.ts';
import { openImageAsPdf, openPdf, savePdf, type OpenOptions, type PdfFile } from './pdf-lib.ts';
import type { ImageFile, Workspace } from './images.ts';
import { readIdentity, type Identity } from './pkcs12.ts';

/** Where a picture stands: points from the lower left corner of the page as it is shown. */
export interface PicturePlace {
  image: ImageFile;
  x: number;
  y: number;
  width: number;
}

/** Draws the picture of a signature on a page. `page` counts from 1, or from the end when negative. */
export async function stampSignature(
  file: PdfFile,
  page: number,
  place: PicturePlace,
  workspace: Workspace,
): Promise<void> {
  const { stampPicture } = await import('./pdf/signature.ts');
  const picture = await openImageAsPdf(place.image, workspace);
  stampPicture(file, pageIndex(file, page), { ...place, picture });
}

/** @throws Failure `password_required`, `invalid_input` for a file that cannot sign now. */
export async function openIdentity(
  { path, filename }: { path: string; filename: string },
  password: string | undefined,
): Promise<Identity> {
  return readIdentity(await readFile(path), password, filename, systemClock.now());
}

export interface SignOptions {
  identity: Identity;
  page: number;
  place: PicturePlace | undefined;
  reason: string | undefined;
}

/**
 * Writes a signed copy (PAdES B-B). A file with signatures stays as it is and has the new one appended; others are
 * written anew first, which repairs and decrypts them.
 *
 * @throws Failure as `openPdf`; `invalid_input` for a file that cannot be signed or a page it does not have.
 */
export async function signPdf(
  source: OpenOptions,
  options: SignOptions,
  output: string,
  workspace: Workspace,
): Promise<void> {
  const { identity, reason, place } = options;
  const [{ appendSignature, refuseUnsignable }, { signedFields }] = await Promise.all([
    import('./pdf/signature.ts'),
    import('./pdf/fields.ts'),
  ]);
  let file = await openPdf(source);
  refuseUnsignable(file);
  let { path } = source;
  const before = signedFields(file).length;
  if (before === 0) {
    path = join(await mkdtemp(join(source.scratch, 'unsigned-')), 'unsigned.pdf');
    await savePdf(file.context, path);
    file = await openPdf({ path, filename: source.filename, scratch: source.scratch });
  }
  const picture = place && { ...place, picture: await openImageAsPdf(place.image, workspace) };
  const name = /^CN=(.*)$/m.exec(identity.certificate.subject)?.[1] ?? '';
  const signed = await appendSignature(file, await readFile(path), {
    page: pageIndex(file, options.page),
    picture,
    name,
    reason,
    now: systemClock.now(),
    size: signatureSize(identity),
    sign: (parts) => signDetached(parts, identity),
  });
  await writeFile(output, signed);
  const written = await openPdf({ path: output, filename: source.filename, scratch: source.scratch });
  if (signedFields(written).length === before + 1 && written.pages.length === file.pages.length) return;
  throw new Failure('engine_failed', `${source.filename} could not be signed.`, { file: source.filename });
}

function pageIndex({ pages, filename }: PdfFile, page: number): number {
  const index = page < 0 ? pages.length + page : page - 1;
  if (index >= 0 && index < pages.length) return index;
  const message = `${filename} has ${pages.length} pages: there is no page ${page}.`;
  throw new Failure('invalid_input', message, { file: filename });
}
