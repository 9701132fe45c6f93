import htmlToMarkdownConverter from './html-to-markdown-converter.ts';
import markdownToHtmlConverter from './markdown-to-html-converter.ts';
import codeFormatter from './code-formatter.ts';
import codeMinifier from './code-minifier.ts';
import textDiffer from './text-differ.ts';
import textEncodingConverter from './text-encoding-converter.ts';

/** In the order they are listed. */
export const textTools = [
  codeMinifier,
  codeFormatter,
  textEncodingConverter,
  textDiffer,
  markdownToHtmlConverter,
  htmlToMarkdownConverter,
];
