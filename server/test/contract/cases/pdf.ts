import { PDFDocument } from '@cantoo/pdf-lib';
import { expect } from 'vitest';
import { sample } from '../../fixtures/samples.ts';
import { pdfFixture } from '../../pdf-checks.ts';
import type { Cases, Seen, ToolCase } from '../tool-case.ts';

const pages =
  (count: number) =>
  ([document]: readonly Seen[]) =>
    expect(document?.pages).toBe(count);

/** A password for a file that has none does nothing. */
const noPassword = { password: [] };
const everyPage = { pages: ['1-last'], ...noPassword };
const withImages: Pick<ToolCase, 'files'> = { files: () => [pdfFixture('images')] };
const withForm: Pick<ToolCase, 'files'> = { files: () => [pdfFixture('form')] };

/** Two pages of two inches by one: the highest resolution stays small. */
const tickets = await twoTickets();

async function twoTickets() {
  const document = await PDFDocument.create();
  for (const name of ['First', 'Second']) document.addPage([144, 72]).drawText(name, { x: 10, y: 30, size: 18 });
  await document.attach(Buffer.from('a,b\n1,2\n'), 'rows.csv', { mimeType: 'text/csv' });
  return { filename: 'tickets.pdf', content: await document.save() };
}

export const pdfCases: Cases = {
  'pdf-merger': {
    values: { passwords: ['["",""]'], page_ranges: ['["1",""]'] },
    expect: ([document]) => expect(document?.pages).toBeGreaterThan(1),
  },
  'pdf-splitter': {
    values: { ranges: ['1,2'], ...noPassword },
    together: { ranges: { mode: 'ranges' }, max_size_mb: { mode: 'max_size' } },
    fails: {
      'mode=ranges': 'it needs ranges',
      'mode=max_size': 'it needs max_size_mb',
      'max_size_mb=0.01': 'a page is larger',
    },
    expect: (parts) => expect(parts.map((part) => part.pages)).toEqual([1, 1]),
  },
  'pdf-compressor': { expect: pages(2) },
  'pdf-to-image-converter': {
    replaces: { pdf: tickets },
    settings: { dpi: '72' },
    values: everyPage,
    together: { transparent: { format: 'png' } },
    expect: ([image]) => expect(image).toMatchObject({ width: 144, height: 72 }),
  },
  'pdf-text-extractor': { values: everyPage, expect: ([text]) => expect(text?.text).toContain('The old mill') },
  'pdf-rotator': { values: everyPage, expect: pages(2) },
  'pdf-page-extractor': { settings: { pages: '2' }, values: noPassword, expect: pages(1) },
  'pdf-page-remover': { settings: { pages: '1' }, values: noPassword, expect: pages(1) },
  'pdf-organizer': { settings: { order: '2,1,1' }, values: noPassword, expect: pages(3) },
  'pdf-unlocker': { files: () => [pdfFixture('locked')], settings: { password: 'secret' }, expect: pages(3) },
  'pdf-protector': {
    settings: { user_password: 'open sesame' },
    values: { owner_password: ['owner'], ...noPassword },
    expect: ([document]) => expect(document?.pages, 'it is locked').toBeUndefined(),
  },
  'pdf-linearizer': { values: noPassword, expect: pages(2) },
  'pdf-repairer': { values: noPassword, files: () => [pdfFixture('bad-xref')] },
  'pdf-watermarker': {
    settingsFor: (type) => (type === 'pdf' ? { text: 'Draft' } : { mark: 'last_file' }),
    files: (type) => [pdfFixture('three-pages'), ...(type === 'pdf' || type === undefined ? [] : [sample(type)])],
    values: { color: ['#f00'], ...everyPage },
    fails: { 'mark=last_file': 'there is only one file' },
    expect: pages(3),
  },
  'pdf-page-numberer': { values: { format: ['Page {n}'], color: ['#333'], ...everyPage }, expect: pages(2) },
  'pdf-flattener': { ...withForm, values: noPassword, together: { forms: {} } },
  'pdf-grayscaler': { values: everyPage, expect: pages(2) },
  'pdf-cropper': {
    settings: { margins_mm: '10' },
    values: everyPage,
    together: { same_for_all: { auto: 'true' } },
    expect: pages(2),
  },
  'pdf-nup-maker': { values: noPassword, together: { booklet: { per_sheet: '2' } }, expect: pages(1) },
  'pdf-attachment-extractor': {
    replaces: { pdf: tickets },
    values: noPassword,
    expect: ([file]) => expect(file?.filename).toBe('rows.csv'),
  },
  'pdf-metadata-editor': {
    settings: { title: 'The Mill' },
    values: { author: ['Somebody'], subject: ['Mills'], keywords: ['mill, wheat'], ...noPassword },
    expect: pages(2),
  },
  'pdf-info-reader': { values: noPassword, expect: ([report]) => expect(report?.text).toContain('"pages": [') },
  'pdf-form-filler': { ...withForm, settings: { fields: '{"person.name":"Anna","agree":true}' }, values: noPassword },
  'pdf-form-extractor': {
    ...withForm,
    values: noPassword,
    expect: ([data]) => expect(data?.text).toContain('person.name'),
  },
  'pdf-redactor': {
    settings: { terms: '["mill"]', dpi: '72' },
    values: { patterns: ['email,phone'], regex: ['[Oo]ld'], color: ['#f00'], ...noPassword },
    expect: pages(2),
  },
  'pdf-signer': {
    files: (type) => [sample('pdf'), sample(type === 'png' || type === 'jpeg' ? type : 'p12')],
    settingsFor: (type) =>
      type === 'png' || type === 'jpeg' ? { mode: 'image' } : { mode: 'pades', certificate_password: 'millrun' },
    values: { reason: ['Read and approved'], certificate_password: [], ...noPassword },
    fails: {
      'mode=image': 'there is no picture',
      'page=-20000': 'there is no such page',
      'page=20000': 'there is no such page',
    },
    expect: pages(2),
  },
  'pdf-comparer': {
    values: noPassword,
    expect: (outputs) => expect(outputs.some(({ pages: count }) => count === 2)).toBe(true),
  },
  'pdfa-converter': {
    values: noPassword,
    fails: { 'allow_downgrade=false': 'the link of the sample cannot come along' },
    expect: ([document]) => expect(document?.pages).toBeGreaterThan(0),
  },
  'pdf-image-extractor': {
    ...withImages,
    values: everyPage,
    fails: { 'min_width=10000': 'no image is that wide', 'min_height=10000': 'no image is that high' },
  },
  'pdf-to-markdown-converter': {
    values: { language: ['deu'], ...everyPage },
    expect: ([text]) => expect(text?.text).toContain('The old **mill**'),
  },
  'pdf-to-word-converter': {
    replaces: { pdf: pdfFixture('three-pages') },
    values: { language: ['deu'], ...everyPage },
    expect: ([document]) => expect(document?.text).toMatch(/\w/),
  },
  'pdf-to-excel-converter': {
    values: everyPage,
    fails: { 'mode=stream': 'two columns of three rows are too few to be told from text' },
    expect: ([book]) => expect(book?.rows).toBeGreaterThan(1),
  },
  'pdf-to-html-converter': { values: everyPage, expect: ([page]) => expect(page?.text).toContain('mill') },
  'pdf-to-powerpoint-converter': {
    replaces: { pdf: tickets },
    settings: { dpi: '72' },
    values: everyPage,
    expect: pages(2),
  },
};
