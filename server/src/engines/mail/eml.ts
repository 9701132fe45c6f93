import PostalMime, { type Address, type Attachment } from 'postal-mime';
import type { Mail, MailAttachment } from './mail.ts';

/** Reads a message of the internet; undefined when nothing in it is a header of one. */
export async function parseEml(bytes: Buffer): Promise<Mail | undefined> {
  const mail = await PostalMime.parse(bytes, { maxNestingDepth: 64 });
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
