import { PDFBool, PDFDict, PDFName, PDFRef, PDFStream, type PDFObject } from '@cantoo/pdf-lib';
import { attachmentsOf } from './attachments.ts';
import { formOf } from './copy.ts';
import { readOutline, type OutlineItem } from './destinations.ts';
import type { PdfFile } from './document.ts';
import { formFields, inheritedEntry, signedFields } from './fields.ts';
import { isoDate, readProperties, readXmp } from './metadata.ts';
import { dictEntry, entry, nameEntry, nameText, resolve, textOf } from './objects.ts';
import { pageFrame } from './page-frame.ts';
import { childrenOf, reachableObjects } from './write.ts';

/** What can be told of a PDF without showing it; keys as the report of a tool has them. */
export function reportOf(file: PdfFile): Record<string, unknown> {
  const properties = Object.entries(readProperties(file)).map(([key, value]) => [key, value ?? null]);
  const marks = dictEntry(file.catalog, 'MarkInfo');
  return {
    version: nameEntry(file.catalog, 'Version') ?? file.context.header.getVersionString(),
    page_count: file.pages.length,
    ...(Object.fromEntries(properties) as Record<string, unknown>),
    language: textOf(entry(file.catalog, 'Lang')) ?? null,
    tagged: marks !== undefined && entry(marks, 'Marked') === PDFBool.True,
    standards: standardsOf(readXmp(file)),
    bookmarks: countItems(readOutline(file)),
    form: formReport(file),
    signatures: signedFields(file).map((field) => signatureReport(field)),
    attachments: attachmentsOf(file).map(({ name, description, size }) => ({
      name,
      description: description ?? null,
      size_bytes: size ?? null,
    })),
    has_javascript: hasScript(file),
    fonts: fontsOf(file),
    pages: file.pages.map((_, page) => pageReport(file, page)),
  };
}

const rounded = (value: number) => Math.round(value * 100) / 100;

function pageReport(file: PdfFile, page: number) {
  const { width, height, turns } = pageFrame(file, page);
  return {
    page: page + 1,
    width_pt: rounded(width),
    height_pt: rounded(height),
    width_mm: rounded((width * 25.4) / 72),
    height_mm: rounded((height * 25.4) / 72),
    rotation: turns * 90,
  };
}

function countItems(items: readonly OutlineItem[]): number {
  return items.reduce((count, item) => count + 1 + countItems(item.children), 0);
}

/** What the file claims to follow; nothing here checks it. */
function standardsOf(xmp: string | undefined): string[] {
  const value = (name: string) =>
    new RegExp(`${name}(?:\\s{0,4}=\\s{0,4}["']|>)\\s{0,4}([\\w./: -]{1,32})`).exec(xmp ?? '')?.[1]?.trim();
  const [part, level, access, exchange] = ['pdfaid:part', 'pdfaid:conformance', 'pdfuaid:part', 'GTS_PDFXVersion'].map(
    value,
  );
  return [
    ...(part === undefined ? [] : [`PDF/A-${part}${(level ?? '').toLowerCase()}`]),
    ...(access === undefined ? [] : [`PDF/UA-${access}`]),
    ...(exchange === undefined ? [] : [exchange]),
  ];
}

function formReport(file: PdfFile) {
  const form = formOf(file);
  if (form === undefined) return null;
  const names = new Set<PDFObject>();
  // A field without a type of its own kids is a widget of the one above it.
  for (const field of formFields(file)) {
    if (textOf(entry(field, 'T')) !== undefined && inheritedEntry(field, 'FT') !== undefined) names.add(field);
  }
  return { fields: names.size, xfa: entry(form, 'XFA') !== undefined };
}

function signatureReport(field: PDFDict) {
  const signature = dictEntry(field, 'V');
  const text = (key: string) => (signature === undefined ? null : (textOf(entry(signature, key)) ?? null));
  return {
    field: textOf(entry(field, 'T')) ?? null,
    name: text('Name'),
    reason: text('Reason'),
    location: text('Location'),
    signed: isoDate(text('M') ?? undefined) ?? null,
    kind: signature === undefined ? null : (nameEntry(signature, 'SubFilter') ?? null),
  };
}

function hasScript(file: PdfFile): boolean {
  for (const dict of dictionaries(file)) {
    if (nameText(entry(dict, 'S')) === 'JavaScript' && entry(dict, 'JS') !== undefined) return true;
  }
  return false;
}

/** Every dictionary of a file, those that stand in others too. */
function* dictionaries(file: PdfFile): Generator<PDFDict> {
  for (const [, object] of reachableObjects(file.context)) {
    const waiting: PDFObject[] = [object];
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      if (value instanceof PDFRef) continue;
      if (value instanceof PDFDict) yield value;
      else if (value instanceof PDFStream) yield value.dict;
      for (const child of childrenOf(value)) waiting.push(child);
    }
  }
}

interface FontReport {
  name: string;
  type: string;
  embedded: boolean;
  subset: boolean;
}

/** Each font once, by its name. */
function fontsOf(file: PdfFile): FontReport[] {
  const fonts = new Map<string, FontReport>();
  for (const dict of dictionaries(file)) {
    const type = nameEntry(dict, 'Subtype') ?? '';
    // The parts of a composite font are no fonts of their own.
    if (dict.get(PDFName.of('Type')) !== PDFName.of('Font') || type.startsWith('CIDFont')) continue;
    const name = nameEntry(dict, 'BaseFont') ?? nameEntry(dict, 'Name') ?? 'unnamed';
    const report = {
      name: name.replace(/^[A-Z]{6}\+/, ''),
      type,
      embedded: type === 'Type3' || isEmbedded(dict),
      subset: /^[A-Z]{6}\+/.test(name),
    };
    fonts.set(JSON.stringify(report), report);
  }
  return [...fonts.values()].toSorted((a, b) => a.name.localeCompare(b.name));
}

/** True when the shapes of the letters are in the file. */
export function isEmbedded(font: PDFDict): boolean {
  const descendants = entry(font, 'DescendantFonts');
  const descendant = descendants === undefined ? undefined : resolve(font.context, childrenOf(descendants)[0]);
  const descriptor = dictEntry(descendant instanceof PDFDict ? descendant : font, 'FontDescriptor');
  return ['FontFile', 'FontFile2', 'FontFile3'].some(
    (key) => descriptor !== undefined && entry(descriptor, key) !== undefined,
  );
}
