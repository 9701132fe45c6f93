import type { Readable } from 'node:stream';
import { Failure } from '../../lib/failure.ts';
import type { FileTypeId } from '../../lib/media-types.ts';

export interface ArchiveFile {
  path: string;
  filename: string;
  type: FileTypeId;
}

/** One thing in an archive. */
export interface Member {
  /** With `/` between directories; never absolute, never upwards. */
  path: string;
  kind: 'file' | 'directory' | 'link';
  /** Where a link leads. */
  target?: string;
  /** The path of the file that this is one more name of. */
  hardLinkTo?: string;
  modified: Date | undefined;
  /** Permission bits, where the archive has them. */
  mode?: number;
}

/** How much of an archive is believed. */
export interface ReadingLimits {
  maxFiles: number;
  /** Unpacked, of all files together. */
  maxBytes: number;
  /** Unpacked size by packed size; only looked at beyond 10 MB. */
  maxRatio: number;
}

export interface ReadingOptions {
  password?: string | undefined;
  limits: ReadingLimits;
  scratch: string;
  signal: AbortSignal;
}

/** Takes a member; what it does not read of `content` is skipped. Directories and links have none. */
export type OnMember = (member: Member, content: Readable) => Promise<void>;

/** Most members: directories and links count as well. */
const maxMembers = 200_000;

/** Counts members and refuses those that want to be somewhere else than in the archive. */
export function createGate({ filename }: ArchiveFile, { maxFiles }: ReadingLimits): (member: Member) => Member {
  let members = 0;
  let files = 0;
  return (member) => {
    members++;
    if (member.kind === 'file') files++;
    if (files > maxFiles || members > maxMembers) {
      const message = `"${filename}" holds more than ${files > maxFiles ? maxFiles : maxMembers} files.`;
      throw new Failure('resource_limit', message, { file: filename });
    }
    return { ...member, path: safePath(member.path, filename) };
  };
}

function safePath(given: string, filename: string): string {
  const path = given
    .replaceAll('\\', '/')
    .replace(/^(\.\/)+/, '')
    .replace(/\/+$/, '');
  const isElsewhere = path.startsWith('/') || /^[A-Za-z]:/.test(path) || path.split('/').includes('..');
  if (isElsewhere) throw outsideFailure(filename, given);
  if (!path.includes('\0')) return path;
  throw new Failure('invalid_input', `"${filename}" holds a file with a zero in its name.`, { file: filename });
}

export function outsideFailure(filename: string, path: string): Failure {
  const message = `"${filename}" holds a file that wants to be outside: "${path.slice(0, 80)}".`;
  return new Failure('invalid_input', message, { file: filename });
}

export function damagedArchive(filename: string, log: string): Failure {
  return new Failure('invalid_input', `"${filename}" is damaged, or cut short.`, { file: filename, log });
}

export function passwordFailure(filename: string, password: string | undefined): Failure {
  const message =
    password === undefined ? `"${filename}" needs a password.` : `The password for "${filename}" is wrong.`;
  return new Failure('password_required', message, { file: filename });
}
