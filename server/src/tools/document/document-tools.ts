import emailToPdfConverter from './email-to-pdf-converter.ts';
import markdownToPdfConverter from './markdown-to-pdf-converter.ts';
import htmlToPdfConverter from './html-to-pdf-converter.ts';
import websiteCapturer from './website-capturer.ts';
import wordToPdfConverter from './word-to-pdf-converter.ts';
import excelToPdfConverter from './excel-to-pdf-converter.ts';
import powerpointToPdfConverter from './powerpoint-to-pdf-converter.ts';
import presentationToImageConverter from './presentation-to-image-converter.ts';
import documentConverter from './document-converter.ts';
import docxTemplateFiller from './docx-template-filler.ts';

/** In the order they are listed. */
export const documentTools = [
  wordToPdfConverter,
  htmlToPdfConverter,
  websiteCapturer,
  excelToPdfConverter,
  markdownToPdfConverter,
  powerpointToPdfConverter,
  presentationToImageConverter,
  emailToPdfConverter,
  documentConverter,
  docxTemplateFiller,
];
