import { writeFile } from 'node:fs/promises';
import { paperSizes, printPage } from '../../engines/chromium-print.ts';
import { chromium, showPage } from '../../engines/chromium.ts';
import { htmlSanitizer } from '../../engines/html-sanitizer.ts';
import { siteOfHtml } from '../../engines/local-site.ts';
import { mailPage } from '../../engines/mail/mail-page.ts';
import { emlReader, msgReader, readMail } from '../../engines/mail/read-mail.ts';
import { embedInPdf, pdfLib } from '../../engines/pdf-lib.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, flag } from '../settings.ts';

export default defineTool({
  slug: 'email-to-pdf-converter',
  name: 'Email to PDF Converter',
  category: 'document',
  description: 'Prints e-mails (EML and Outlook MSG) as PDF, with their pictures and attachments.',
  accepts: ['eml', 'msg'],
  produces: 'any', // Attachments are returned as they are.
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [chromium, emlReader, msgReader, htmlSanitizer, pdfLib],
  settings: {
    attachments: choice({
      of: ['embed', 'separate', 'skip'],
      default: 'separate',
      describe: 'embed: attach them to the PDF; separate: return them beside it; skip: leave them out.',
    }),
    headers: flag({ default: true, describe: 'Begin with sender, receivers, date and subject.' }),
    page_size: choice({ of: paperSizes, default: 'a4', describe: 'The paper.' }),
  },
  run: (context) =>
    eachInput(context, async (input) => {
      const { headers, attachments, page_size: paper } = context.settings;
      const { filename, stem } = input;
      const mail = await readMail(input);
      const { html, shown } = await mailPage(mail, { headers, title: stem });
      const target = context.output(`${stem}.pdf`);
      const source = { ...siteOfHtml(html), name: filename, file: filename };
      await showPage({ ...source, scripts: false, signal: context.signal }, async (page) => {
        await printPage(page, { target, paper, marginMm: 15 });
      });
      const kept = mail.attachments.filter((attachment) => !shown.has(attachment) && attachment.content.length > 0);
      if (attachments === 'embed' && kept.length > 0) await embedInPdf(target, kept);
      if (attachments !== 'separate') return;
      for (const attachment of kept) await writeFile(context.output(attachment.filename), attachment.content);
    }),
});
