import { brokenImage, type NamedFile } from './image-failure.ts';
import { jpegDamage, openWithSharp, wasJpegDamageSeen } from './sharp.ts';

/**
 * Refuses a JPEG whose compressed pixels are damaged, once it was decoded by a pipeline of `openWithSharp`. libvips only warns
 * of such damage, and does not say of which file, so where there was a warning this file is decoded once more by itself.
 * Damage that decodes to other pixels without contradiction nobody can see.
 *
 * @throws Failure `invalid_input`
 */
export async function assertNoJpegDamage(file: NamedFile & { path: string }): Promise<void> {
  if (file.type !== 'jpeg' || !wasJpegDamageSeen()) return;
  const strict = await openWithSharp(file.path, { failOn: 'warning' });
  const problem = await strict
    .resize(16)
    .raw()
    .toBuffer()
    .then(
      () => '',
      (error: Error) => error.message,
    );
  if (jpegDamage.test(problem)) throw brokenImage(file, problem);
}
