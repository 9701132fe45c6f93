import { pdfLib } from '../../engines/pdf-lib.ts';
import { redactPdf } from '../../engines/pdf-redact.ts';
import { pdfium } from '../../engines/pdfium.ts';
import { qpdf } from '../../engines/qpdf.ts';
import { redactionPatterns } from '../../engines/redaction-patterns.ts';
import { sharpEngine } from '../../engines/sharp.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { color, flag, int, json, list, text } from '../settings.ts';
import { password } from './edit-pdf.ts';

const maxTerms = 500;
const maxTermLength = 200;

const isTerm = (value: unknown): value is string =>
  typeof value === 'string' && value.trim() !== '' && value.length <= maxTermLength;

export default defineTool({
  slug: 'pdf-redactor',
  name: 'PDF Redactor',
  category: 'pdf',
  description:
    'Removes words and personal data for good: pages that have them become pictures with boxes, and nothing stays under these. Only text is searched, not what pictures show; attachments, comments, fields and tags do not stay.',
  accepts: ['pdf'],
  produces: ['pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 600,
  engines: [pdfium, pdfLib, qpdf, sharpEngine],
  settings: {
    terms: json<string[]>({
      describe: 'Words and phrases to remove, as a JSON list; they are also found within longer words.',
      schema: { type: 'array', maxItems: maxTerms, items: { type: 'string', minLength: 1, maxLength: maxTermLength } },
      check: (value) =>
        Array.isArray(value) && value.length > 0 && value.length <= maxTerms && value.every(isTerm)
          ? { value }
          : { problem: `must be a list of 1 to ${maxTerms} texts of at most ${maxTermLength} characters` },
    }),
    patterns: list({
      of: ['none', ...redactionPatterns],
      default: 'none',
      describe: 'Kinds of data to remove; numbers of cards and accounts only where their check digits are right.',
    }),
    regex: text({ describe: 'A regular expression (JavaScript, with Unicode) for what to remove.', max: 500 }),
    color: color({ describe: 'The colour of the boxes.', default: '#000000' }),
    case_sensitive: flag({
      describe: 'Terms and the regular expression tell capital letters from small.',
      default: false,
    }),
    dpi: int({ min: 72, max: 300, default: 200, describe: 'Pixels an inch of pages that become pictures.' }),
    password,
  },
  check({ terms, patterns, regex }) {
    if (terms === undefined && regex === undefined && patterns.every((pattern) => pattern === 'none')) {
      return { terms: ['or patterns or regex must say what to remove'] };
    }
    return regex === undefined || isExpression(regex) ? {} : { regex: ['must be a valid regular expression'] };
  },
  run: (context) =>
    eachInput(context, async ({ path, filename, stem }) => {
      const { terms = [], patterns, regex, case_sensitive: caseSensitive, dpi, password: secret } = context.settings;
      const { places, pages, texts, unread } = await redactPdf(
        {
          ...{ path, filename, terms, regex, caseSensitive, dpi, password: secret },
          color: longColor(context.settings.color),
          patterns: patterns.filter((pattern) => pattern !== 'none'),
          scratch: context.scratch,
          signal: context.signal,
          onProgress: (fraction) => context.inputs.length === 1 && context.progress(fraction * 90),
        },
        context.output(`${stem}.pdf`),
      );
      context.log(`${places} places on ${pages} pages and ${texts} other texts redacted`);
      if (unread > 0) context.log(`${unread} pages have no text and were not searched`);
    }),
});

function isExpression(source: string): boolean {
  try {
    return new RegExp(source, 'gu').flags !== '';
  } catch {
    return false;
  }
}

/** `#rgb` and `#rrggbbaa` as `#rrggbb`: a box that can be seen through would be none. */
function longColor(short: string): string {
  return short.length === 4 ? short.replaceAll(/[\da-f]/gi, '$&$&') : short.slice(0, 7);
}
