import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { expect } from 'vitest';
import { ZipFile } from 'yazl';
import { sample } from '../../fixtures/samples.ts';
import type { Cases, Seen } from '../tool-case.ts';

const hasPages = ([document]: readonly Seen[]) => expect(document?.pages).toBeGreaterThan(0);
const locked = { encrypted_office: 'password_required' } as const;
/** A password for a file that has none does nothing. */
const noPassword = { password: [] };

const site = { filename: 'site.zip', content: await writeSite() };

function writeSite(): Promise<Uint8Array> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('<!doctype html><h1>Mill</h1><img src="mill.svg">'), 'index.html');
  zip.addBuffer(readFileSync(sample('svg')), 'mill.svg');
  zip.end();
  return buffer(zip.outputStream);
}

/** `address` is a page of a web server that the service may fetch from. */
export const documentCases = (address: string): Cases => ({
  'word-to-pdf-converter': { values: { pages: ['1'], ...noPassword }, refuses: locked, expect: hasPages },
  'html-to-pdf-converter': {
    replaces: { zip: site },
    settingsFor: (type) => (type === undefined ? { url: address } : {}),
    values: { header_html: ['<b>Head</b>'], footer_html: ['<b>Foot</b>'] },
    together: { header_html: { margin_mm: '10' }, footer_html: { margin_mm: '10' } },
    expect: hasPages,
  },
  'website-capturer': {
    settings: { url: address, width: '400', height: '300' },
    skips: { 'delay_ms=10000': 'only waits', 'width=3840': 'only costs time', 'height=4320': 'only costs time' },
    expect: ([image]) => expect(image?.width).toBe(400),
  },
  'excel-to-pdf-converter': { values: { sheets: ['1'], ...noPassword }, refuses: locked, expect: hasPages },
  'markdown-to-pdf-converter': { expect: hasPages },
  'powerpoint-to-pdf-converter': {
    values: { slides: ['1'], ...noPassword },
    together: { notes: {} },
    refuses: locked,
    expect: ([document]) => expect(document?.pages).toBe(2),
  },
  'presentation-to-image-converter': {
    settings: { dpi: '72' },
    values: { slides: ['1'], ...noPassword },
    together: { dpi: { slides: '1' } },
    refuses: locked,
    expect: (slides) => expect(slides).toHaveLength(2),
  },
  'email-to-pdf-converter': {
    expect: (outputs) =>
      expect(outputs.map(({ mediaType }) => mediaType.split(';')[0])).toEqual(['application/pdf', 'text/csv']),
  },
  'document-converter': {
    settings: { format: 'odt' },
    values: noPassword,
    fails: { 'reference_doc=last_file': 'there is only one file' },
    refuses: locked,
    expect: ([document]) => expect(document?.text).toMatch(/\w/),
  },
  'docx-template-filler': {
    settings: { data: '{"name":"Anna"}' },
    together: { output: {}, missing: {} },
    expect: ([document]) => expect(document?.sizeBytes).toBeGreaterThan(0),
  },
});
