import { readFile } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import type { Mail, MailAttachment } from './mail.ts';

export const emlReader: Engine = {
  id: 'postal-mime',
  name: 'postal-mime',
  license: 'MIT-0',
  version: () => packageVersion('postal-mime'),
};

export const msgReader: Engine = {
  id: 'msgreader',
  name: 'msgreader',
  license: 'Apache-2.0',
  version: () => packageVersion('@kenjiuno/msgreader'),
};

interface Source {
  path: string;
  filename: string;
  type: string;
  sizeBytes: number;
}

const mostBytes = 200_000_000;
const mostAttachments = 1000;
/** The parser keeps each line that is not Base64 as a piece of its own, of some 2 kB: these many take 1 GB and 4 s. */
const mostLines = 500_000;
/** Shorter lines are no full ones of Base64, in bytes. */
const leastOfBase64 = 60;

/**
 * Reads a mail whole.
 *
 * @throws Failure `invalid_input` when it is none or breaks off, `resource_limit` above 200 MB, 500,000 lines
 * besides those of Base64, or 1,000 attachments.
 */
export async function readMail({ path, filename, type, sizeBytes }: Source): Promise<Mail> {
  const options = { file: filename };
  if (sizeBytes > mostBytes) {
    throw new Failure('resource_limit', `${filename} is larger than the 200 MB an e-mail may have.`, options);
  }
  const bytes = await readFile(path);
  if (type !== 'msg' && hasTooManyLines(bytes)) {
    throw new Failure('resource_limit', `${filename} has more than 500,000 lines besides those of Base64.`, options);
  }
  const mail = await (type === 'msg' ? readMsg(bytes) : readEml(bytes)).catch((cause: unknown) => {
    throw new Failure('invalid_input', `${filename} is not an e-mail that can be read.`, { ...options, cause });
  });
  if (mail === undefined) throw new Failure('invalid_input', `${filename} is not an e-mail.`, options);
  if (type !== 'msg' && (await hasLostEnd(bytes))) {
    throw new Failure('invalid_input', `${filename} is damaged: it breaks off before its end.`, options);
  }
  if (mail.attachments.length > mostAttachments) {
    throw new Failure('resource_limit', `${filename} has more than ${mostAttachments} attachments.`, options);
  }
  return { ...mail, attachments: mail.attachments.map(withPlainName) };
}

function hasTooManyLines(bytes: Buffer): boolean {
  let lines = 0;
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    if (!isBase64(bytes, start, end)) lines += 1;
    if (lines > mostLines) return true;
    start = end + 1;
  }
  return false;
}

/** True for a full line of Base64: a text has a space or a sign in a line that is as long. */
function isBase64(bytes: Buffer, start: number, end: number): boolean {
  return end - start >= leastOfBase64 && /^[A-Za-z0-9+/=]+\r?$/.test(bytes.toString('latin1', start, end));
}

/** A name may be a path: only its end is a name. */
function withPlainName(attachment: MailAttachment, index: number): MailAttachment {
  const filename = attachment.filename.split(/[/\\]/).at(-1)?.trim() ?? '';
  return { ...attachment, filename: /^\.*$/.test(filename) ? `attachment-${index + 1}` : filename };
}

async function readMsg(bytes: Buffer): Promise<Mail | undefined> {
  const { parseMsg } = await import('./msg.ts');
  return parseMsg(bytes);
}

async function hasLostEnd(bytes: Buffer): Promise<boolean> {
  const { breaksOff } = await import('./eml-end.ts');
  return breaksOff(bytes);
}

async function readEml(bytes: Buffer): Promise<Mail | undefined> {
  const { parseEml } = await import('./eml.ts');
  return parseEml(bytes);
}
