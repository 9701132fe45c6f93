import { isUtf8 } from 'node:buffer';
import PostalMime, { type Address, type Attachment } from 'postal-mime';
import type { Mail, MailAttachment } from './mail.ts';

/** Reads a message of the internet; undefined when nothing in it is a header of one. */
export async function parseEml(bytes: Buffer): Promise<Mail | undefined> {
  const mail = await PostalMime.parse(withUtf8Head(bytes), { maxNestingDepth: 64 });
  if (!mail.headers.some(({ key }) => /^(from|to|subject|date|message-id|received|mime-version)$/.test(key)))
    return undefined;
  return {
    subject: mail.subject,
    from: addresses(mail.from === undefined ? [] : [mail.from]),
    to: addresses(mail.to),
    cc: addresses(mail.cc),
    bcc: addresses(mail.bcc),
    date: mail.headers.find(({ key }) => key === 'date')?.value.trim() ?? mail.date,
    html: mail.html,
    text: mail.text,
    attachments: mail.attachments.map(toAttachment),
  };
}

/** Of a head, in bytes: far more than the fields of any real mail before its content type. */
const longestSearch = 32 * 1024;

/** The parser takes a head for UTF-8. Old programs wrote it as the text below, without saying so. */
function withUtf8Head(bytes: Buffer): Buffer {
  const ends = [bytes.indexOf('\n\r\n'), bytes.indexOf('\n\n')].filter((at) => at >= 0);
  const head = bytes.subarray(0, ends.length === 0 ? bytes.length : Math.min(...ends));
  if (isUtf8(head)) return bytes;
  const declared = /^content-type:(?:[^\n]|\n[ \t])*?charset="?([\w-]+)/im.exec(
    head.toString('latin1', 0, longestSearch),
  )?.[1];
  const text = headDecoder(declared).decode(head);
  return Buffer.concat([Buffer.from(text), bytes.subarray(head.length)]);
}

function headDecoder(charset = 'windows-1252') {
  try {
    const decoder = new TextDecoder(charset);
    if (!decoder.encoding.startsWith('utf-')) return decoder;
  } catch {
    // An encoding of no known name.
  }
  return new TextDecoder('windows-1252');
}

function addresses(list: readonly Address[] = []): string | undefined {
  const written = list.map((address) =>
    address.group === undefined ? mailbox(address) : `${address.name}: ${address.group.map(mailbox).join(', ')};`,
  );
  return written.length === 0 ? undefined : written.join(', ');
}

function mailbox({ name, address }: { name: string; address: string }): string {
  if (name === '' || name === address) return address;
  return `${/[,;<>]/.test(name) ? `"${name}"` : name} <${address}>`;
}

function toAttachment({ filename, mimeType, contentId, content }: Attachment, index: number): MailAttachment {
  const bytes = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content as Uint8Array);
  const kind =
    mimeType === 'message/rfc822' ? 'message.eml' : mimeType === 'text/calendar' ? 'invitation.ics' : undefined;
  return {
    filename: filename ?? kind ?? `attachment-${index + 1}`,
    mediaType: mimeType,
    contentId: contentId?.replace(/^<|>$/g, ''),
    content: bytes,
  };
}
