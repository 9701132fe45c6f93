export interface MailAttachment {
  filename: string;
  mediaType: string;
  /** As `cid:` addresses name it, without angle brackets. */
  contentId: string | undefined;
  content: Buffer;
}

export interface Mail {
  subject: string | undefined;
  /** As people write addresses, such as `Anna <anna@example.org>`, separated by commas. */
  from: string | undefined;
  to: string | undefined;
  cc: string | undefined;
  bcc: string | undefined;
  /** As the sender's program wrote it, or in UTC. */
  date: string | undefined;
  html: string | undefined;
  text: string | undefined;
  attachments: readonly MailAttachment[];
}
