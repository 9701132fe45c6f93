import { createRequire } from 'node:module';
import type MsgReaderPackage from '@kenjiuno/msgreader';
import type { FieldsData } from '@kenjiuno/msgreader';
import iconv from 'iconv-lite';
import type { Mail, MailAttachment } from './mail.ts';
import { decompressRtf, rtfToMail } from './rtf.ts';

/** Required: for an `import` loaders do not agree on what the default of a CommonJS package is. */
const { default: MsgReader } = createRequire(import.meta.url)('@kenjiuno/msgreader') as typeof MsgReaderPackage;

/** Reads a mail of Outlook; undefined when the file is something else that Outlook or Office keeps. */
export async function parseMsg(bytes: Buffer): Promise<Mail | undefined> {
  const reader = new MsgReader(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const data = reader.getFileData();
  if (data.error !== undefined || (data.dataType !== 'msg' && data.dataType !== null)) return undefined;
  if (data.messageClass === undefined && data.subject === undefined && data.body === undefined) return undefined;
  const attachments = (data.attachments ?? []).map((given, index): MailAttachment => {
    const { fileName, content } = reader.getAttachment(given);
    return {
      filename: fileName || `attachment-${index + 1}`,
      mediaType: given.attachMimeTag ?? 'application/octet-stream',
      contentId: given.pidContentId,
      content: Buffer.from(content),
    };
  });
  return {
    subject: data.subject,
    from: sender(data),
    to: recipients(data, 'to'),
    cc: recipients(data, 'cc'),
    bcc: recipients(data, 'bcc'),
    date: data.clientSubmitTime ?? data.messageDeliveryTime ?? data.creationTime,
    ...body(data),
    attachments,
  };
}

function sender({ senderName = '', senderSmtpAddress, senderEmail }: FieldsData): string | undefined {
  return person(senderName, senderSmtpAddress ?? senderEmail);
}

function recipients({ recipients: all = [] }: FieldsData, kind: string): string | undefined {
  const named = all
    .filter(({ recipType = 'to' }) => recipType === kind)
    .map(({ name = '', smtpAddress, email }) => person(name, smtpAddress ?? email))
    .filter((text) => text !== undefined);
  return named.length === 0 ? undefined : named.join(', ');
}

/** Within an organisation Outlook writes addresses of another kind (`/O=…/CN=…`), which say nothing to people. */
function person(name: string, address = ''): string | undefined {
  const plain = address.startsWith('/') ? '' : address;
  if (name === '' || name === plain) return plain === '' ? undefined : plain;
  return plain === '' ? name : `${name} <${plain}>`;
}

function body(data: FieldsData): Pick<Mail, 'html' | 'text'> {
  const text = data.body;
  if (data.html !== undefined && data.html.length > 0) {
    return { html: decodeHtml(Buffer.from(data.html), data.internetCodepage), text };
  }
  if (data.bodyHtml !== undefined && data.bodyHtml !== '') return { html: data.bodyHtml, text };
  if (data.compressedRtf === undefined) return { html: undefined, text };
  const fromRtf = rtfToMail(decompressRtf(Buffer.from(data.compressedRtf)));
  return { html: fromRtf.html, text: text ?? fromRtf.text };
}

/** What the HTML itself says, else the code page of the message. */
function decodeHtml(bytes: Buffer, codePage = 65_001): string {
  const named = /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(bytes.toString('latin1', 0, 2048))?.[1];
  const encoding = [named, encodingOf(codePage)].find((name) => name !== undefined && iconv.encodingExists(name));
  return iconv.decode(bytes, encoding ?? 'windows-1252');
}

function encodingOf(codePage: number): string {
  const known: Record<number, string> = { 65001: 'utf-8', 20127: 'windows-1252', 20866: 'koi8-r', 21866: 'koi8-u' };
  if (codePage >= 28_591 && codePage <= 28_605) return `iso-8859-${codePage - 28_590}`;
  return known[codePage] ?? `cp${codePage}`;
}
