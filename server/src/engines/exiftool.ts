import { stat } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import { runProgram } from '../sandbox/program.ts';
import { debianVersion } from './debian-package.ts';
import type { Engine } from './engine.ts';

const program = 'exiftool';

export const exiftool: Engine = {
  id: 'exiftool',
  name: 'ExifTool',
  license: 'Artistic-1.0-Perl OR GPL-1.0-or-later',
  install: 'apt-get install -y --no-install-recommends libimage-exiftool-perl',
  async version() {
    const packaged = await debianVersion('libimage-exiftool-perl', '/usr/bin/exiftool');
    if (packaged !== undefined) return packaged;
    const result = await runProgram(program, ['-ver'], { timeoutMs: 10_000 }).catch(() => undefined);
    return result?.stdout.trim();
  },
};

/** What a file says about itself: values by group (`EXIF`, `XMP`, `PDF`, …) and tag name. */
export type Metadata = Record<string, Record<string, unknown>>;

/** Not of the file: what ExifTool knows of the disk, and of its own doing. */
const aboutUs = ['--System:all', '--ExifTool:ExifToolVersion'];
/** The most that is read of a file's metadata, in bytes: embedded pictures as Base64 make the most of it. */
const maxOutputBytes = 64 * 1024 * 1024;

/**
 * Reads all metadata of a file, or that of the named groups. What ExifTool itself has to say of the file (an unknown format,
 * a damaged block) is in the group `ExifTool`.
 *
 * @throws Failure `resource_limit` for more than 64 MiB of it, `engine_failed`.
 */
export async function readMetadata(
  { path, filename }: { path: string; filename: string },
  { groups, binary, signal }: { groups: readonly string[]; binary: boolean; signal: AbortSignal },
): Promise<Metadata> {
  const wanted = groups.map((group) => `-${group}:all`);
  const args = [
    '-json',
    '-g',
    '-struct',
    '-api',
    'LargeFileSupport=1',
    ...aboutUs,
    ...(binary ? ['-b'] : []),
    ...wanted,
  ];
  const { stdout } = await runProgram(program, [...args, '--', path], { signal, maxOutputBytes, okCodes: [0, 1] });
  const { SourceFile: _ours, ...tags } = parse(stdout, filename);
  return tags;
}

function parse(json: string, filename: string): Metadata {
  try {
    return (JSON.parse(json) as Metadata[])[0] ?? {};
  } catch (cause) {
    throw new Failure('engine_failed', `The metadata of "${filename}" could not be read.`, { file: filename, cause });
  }
}

/** Pictures that hold EXIF where ExifTool can put it. */
export const exifImages = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'heic'] as const satisfies readonly FileTypeId[];

/** What the oldest raw formats (CRW, X3F, MRW) say elsewhere than in EXIF. */
const basics = ['Make', 'Model', 'DateTimeOriginal', 'ExposureTime', 'FNumber', 'ISO', 'FocalLength'];
/** Of the pixels as they were, not as they were written: turned, sized and coloured anew. */
const aboutPixels = ['Orientation', 'ColorSpace', 'ExifImageWidth', 'ExifImageHeight'];

/**
 * Writes into a picture what a photo says of itself in EXIF: camera, date, exposure, place, author. What is about the pixels,
 * previews and the maker's own notes stay behind. A photo that says nothing leaves the picture as it is.
 */
export async function copyExif(photo: string, picture: string, signal: AbortSignal): Promise<void> {
  const copied = [
    ...basics.map((tag) => `-EXIF:${tag}<${tag}`),
    ...['-CommonIFD0', '-ExifIFD:all', '-GPS:all', '--MakerNotes:all'],
    ...aboutPixels.map((tag) => `--${tag}`),
  ];
  await runProgram(program, ['-q', '-m', '-overwrite_original', '-tagsFromFile', photo, ...copied, '--', picture], {
    signal,
    okCodes: [0, 1],
  });
}

/** Pictures whose metadata ExifTool can rewrite without touching a pixel. */
export const strippableImages = ['jpeg', 'png', 'gif', 'tiff', 'heic', 'avif'] as const satisfies readonly FileTypeId[];

export interface KeptMetadata {
  /** Which side is up: without it a photo may lie on its side. */
  orientation: boolean;
  /** The colour profile: without it colours may shift. */
  profile: boolean;
  /** Names of further tags to keep, such as `Copyright`. */
  tags: readonly string[];
}

/**
 * Writes a copy of a picture without its metadata, previews and whatever is appended to it. The pixels stay as they are.
 *
 * @throws Failure `invalid_input` for a damaged picture, `engine_failed` when something would remain.
 */
export async function stripImage(
  { path, filename, type }: { path: string; filename: string; type: FileTypeId },
  target: string,
  { orientation, profile, tags }: KeptMetadata,
  signal: AbortSignal,
): Promise<void> {
  const ofPages = type === 'tiff' ? await tellingPageTags(path, filename, signal) : [];
  const keptNames = new Set(tags.map((tag) => nameOf(tag).toLowerCase()));
  const dropped = ofPages.filter((tag) => !keptNames.has(nameOf(tag).toLowerCase()));
  const kept = [...(orientation ? ['Orientation'] : []), ...tags].map((tag) => `-${tag}`);
  const { stderrTail, stdout } = await runProgram(
    program,
    [
      ...['-q', '-m', '-all=', '-CommonIFD0=', ...dropped.map((tag) => `-${tag}=`)],
      ...(profile ? ['--ICC_Profile:all'] : []),
      ...(kept.length === 0 ? [] : ['-tagsFromFile', '@', ...kept]),
      ...['-o', target, '--', path],
    ],
    { signal, okCodes: [0, 1] },
  );
  const isWritten = await stat(target).then(
    ({ size }) => size > 0,
    () => false,
  );
  const log = stdout + stderrTail;
  if (!isWritten) {
    throw new Failure('invalid_input', `"${filename}" is damaged: its metadata cannot be taken out.`, {
      file: filename,
      log,
    });
  }
  if (tags.length === 0) await assertStripped({ path: target, filename, type }, signal);
}

/** Groups that say who, where and with what. */
const telling = ['GPS', 'XMP', 'IPTC', 'MakerNotes', 'Photoshop'];

/**
 * Tags that say it in the directory of a TIFF page, which also holds how its pixels are written: ExifTool takes out none of
 * the pages behind the first by itself, and with the whole directory their pictures would go.
 */
const tellingOfPage = new Set([
  ...['ImageDescription', 'Make', 'Model', 'Software', 'ModifyDate', 'Artist', 'Copyright', 'HostComputer'],
  ...['DocumentName', 'PageName', 'ProcessingSoftware', 'DateTimeOriginal', 'CreateDate', 'ImageUniqueID'],
  ...['OwnerName', 'SerialNumber', 'CameraSerialNumber', 'Rating', 'RatingPercent'],
  ...['XPTitle', 'XPComment', 'XPAuthor', 'XPKeywords', 'XPSubject'],
]);

/** The telling tags of all pages of a TIFF, such as `IFD1:Artist`. */
async function tellingPageTags(path: string, filename: string, signal: AbortSignal): Promise<string[]> {
  const args = ['-json', '-G1', '-a', '-api', 'LargeFileSupport=1', '-EXIF:all', '--', path];
  const { stdout } = await runProgram(program, args, { signal, maxOutputBytes, okCodes: [0, 1] });
  return Object.keys(parse(stdout, filename)).filter((tag) => /^IFD\d+:/.test(tag) && tellingOfPage.has(nameOf(tag)));
}

/** The name of a tag without its group. */
function nameOf(tag: string): string {
  return tag.slice(tag.lastIndexOf(':') + 1);
}

async function assertStripped(
  { path, filename, type }: { path: string; filename: string; type: FileTypeId },
  signal: AbortSignal,
): Promise<void> {
  // In other pictures the second directory is a thumbnail, in a TIFF it is the second page.
  const groups = type === 'tiff' ? telling : [...telling, 'IFD1'];
  const rest = await readMetadata({ path, filename }, { groups, binary: false, signal });
  delete rest['ExifTool'];
  const ofPages = type === 'tiff' ? await tellingPageTags(path, filename, signal) : [];
  if (Object.keys(rest).length === 0 && ofPages.length === 0) return;
  throw new Failure('engine_failed', `Not all metadata of "${filename}" could be removed.`, {
    file: filename,
    log: JSON.stringify({ ...rest, ofPages }).slice(0, 1000),
  });
}
