import type { IOptions } from 'sanitize-html';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const htmlSanitizer: Engine = {
  id: 'sanitize-html',
  name: 'sanitize-html',
  license: 'MIT',
  version: () => packageVersion('sanitize-html'),
};

const text =
  'h1 h2 h3 h4 h5 h6 p div span br hr wbr blockquote pre code kbd samp var a abbr b strong i em u s del ins sub sup small ' +
  'mark q cite dfn time ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td figure figcaption img ' +
  'picture details summary ruby rt rp section article header footer main aside nav address center font';
/** Deeper than any document; what is deeper is left out. */
const deepest = 200;

const shared: IOptions = {
  allowedTags: text.split(' '),
  allowedAttributes: {
    '*': ['id', 'class', 'title', 'lang', 'dir', 'align', 'valign', 'width', 'height'],
    a: ['href', 'name'],
    img: ['src', 'alt'],
    ol: ['start', 'type', 'reversed'],
    td: ['colspan', 'rowspan', 'bgcolor', 'style'],
    th: ['colspan', 'rowspan', 'scope', 'bgcolor', 'style'],
    col: ['span'],
    table: ['border', 'cellpadding', 'cellspacing', 'bgcolor'],
    tr: ['bgcolor'],
    font: ['color', 'face', 'size'],
    details: ['open'],
    time: ['datetime'],
  },
  // How Markdown aligns the columns of tables.
  allowedStyles: { '*': { 'text-align': [/^(left|right|center)$/] } },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https', 'data'] },
  nestingLimit: deepest,
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'noscript',
    'title',
    'template',
    'svg',
    'math',
    'object',
    'iframe',
  ],
};

/** Text with a form and nothing that acts: no script, no style, no frame. Check boxes of task lists stay. */
export async function sanitizeText(html: string): Promise<string> {
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(html, {
    ...shared,
    allowedTags: [...text.split(' '), 'input', 'label'],
    allowedAttributes: {
      ...shared.allowedAttributes,
      input: [{ name: 'type', values: ['checkbox'] }, 'checked', 'disabled'],
      label: ['for'],
    },
  });
}

/**
 * As `sanitizeText`, for paper: pictures that are not in the page itself become what they say in words, and nothing is
 * folded.
 */
export async function sanitizeForPrint(html: string): Promise<string> {
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(await sanitizeText(html), {
    allowedTags: false, // The first pass has chosen.
    allowVulnerableTags: true,
    allowedAttributes: false,
    parseStyleAttributes: false,
    allowedSchemesByTag: { img: ['data'] },
    transformTags: {
      img: (tagName, attribs) => (isInline(attribs['src']) ? { tagName, attribs } : alternative(attribs['alt'])),
      details: (tagName, attribs) => ({ tagName, attribs: { ...attribs, open: '' } }),
    },
  });
}

/**
 * The HTML of a mail: its own styles stay, for the layout of most mails is in them; pictures are `data:` or not there.
 * `inline` finds the picture of a `cid:` address.
 */
export async function sanitizeMail(html: string, inline: (contentId: string) => string | undefined): Promise<string> {
  const { default: sanitize } = await import('sanitize-html');
  return sanitize(html, {
    ...shared,
    allowedStyles: undefined,
    allowedTags: [...text.split(' '), 'style'],
    allowVulnerableTags: true, // `style`: the page it is in runs no scripts and reaches nothing.
    allowedAttributes: {
      ...shared.allowedAttributes,
      '*': ['style', 'bgcolor', ...(shared.allowedAttributes as Record<string, string[]>)['*']!],
    },
    parseStyleAttributes: false,
    allowedSchemesByTag: { img: ['data'] },
    transformTags: {
      img: (tagName, attribs) => {
        const source = attribs['src'] ?? '';
        const src = /^cid:/i.test(source) ? inline(source.slice(4)) : source;
        return isInline(src) ? { tagName, attribs: { ...attribs, src } } : alternative(attribs['alt']);
      },
    },
  });
}

function isInline(source: string | undefined): source is string {
  return /^data:image\//i.test(source ?? '');
}

function alternative(alt = '') {
  return { tagName: 'span', attribs: { class: 'missing-image' }, text: alt };
}
