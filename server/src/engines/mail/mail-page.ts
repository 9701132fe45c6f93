import { sanitizeMail } from '../html-sanitizer.ts';
import { escapeHtml } from '../../lib/escape-html.ts';
import type { Mail, MailAttachment } from './mail.ts';

/**
 * A mail as a page to print: who, when and what about, then what it says. `shown` are the pictures that are part of the
 * text; all others are still to be handed over.
 */
export async function mailPage(
  mail: Mail,
  { headers, title }: { headers: boolean; title: string },
): Promise<{ html: string; shown: ReadonlySet<MailAttachment> }> {
  const shown = new Set<MailAttachment>();
  const inline = (contentId: string) => {
    const found = mail.attachments.find((attachment) => attachment.contentId === decode(contentId));
    if (found === undefined || !/^image\/[\w.+-]+$/i.test(found.mediaType)) return undefined;
    shown.add(found);
    return `data:${found.mediaType};base64,${found.content.toString('base64')}`;
  };
  const body =
    mail.html !== undefined && mail.html.trim() !== ''
      ? await sanitizeMail(mail.html, inline)
      : `<pre class="mail-text">${escapeHtml(mail.text ?? '')}</pre>`;
  const attached = mail.attachments.filter((attachment) => !shown.has(attachment));
  const top = headers ? headerTable(mail, attached) : '';
  const html = `<!doctype html>
<html><head><meta charset="utf-8"><title>${escapeHtml(mail.subject ?? title)}</title><style>${style}</style></head>
<body>${top}<div class="mail-body">${body}</div></body></html>`;
  return { html, shown };
}

function decode(contentId: string): string {
  try {
    return decodeURIComponent(contentId);
  } catch {
    return contentId;
  }
}

function headerTable(mail: Mail, attached: readonly MailAttachment[]): string {
  const rows: [string, string | undefined][] = [
    ['From', mail.from],
    ['To', mail.to],
    ['Cc', mail.cc],
    ['Bcc', mail.bcc],
    ['Date', mail.date],
    ['Subject', mail.subject],
    ['Attachments', attached.map(({ filename, content }) => `${filename} (${size(content.length)})`).join(', ')],
  ];
  const written = rows
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => `<tr><th>${name}</th><td>${escapeHtml(value ?? '')}</td></tr>`);
  return `<table class="mail-headers">${written.join('')}</table>`;
}

function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const style = `body { font: 10.5pt/1.4 "Liberation Sans", Arial, sans-serif; margin: 0; }
table.mail-headers { font: 9.5pt/1.35 "Liberation Sans", Arial, sans-serif !important; border-collapse: collapse; width: 100%;
 margin: 0 0 5mm !important; border-bottom: 1px solid #999; color: #000 !important; }
table.mail-headers th { text-align: left; vertical-align: top; padding: 0 4mm 1mm 0; color: #555; font-weight: normal; white-space: nowrap; }
table.mail-headers td { width: 100%; padding: 0 0 1mm; overflow-wrap: anywhere; }
table.mail-headers tr:last-child > * { padding-bottom: 3mm; }
.mail-text { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0; }
.mail-body img { max-width: 100%; } .missing-image { font-style: italic; color: #666; }`;
