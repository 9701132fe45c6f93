import { PDFDict, PDFName, type PDFRef } from '@cantoo/pdf-lib';
import { damaged, hasLostContent, parse, type PdfFile } from './document.ts';
import { entry, nameEntry, rawEntry } from './objects.ts';

const inheritable = ['Resources', 'MediaBox', 'CropBox', 'Rotate'];

/**
 * The pages that are left of a file whose page tree cannot be followed: every page object whose content is there, in the
 * order of their numbers, which is the order in which nearly every program writes them.
 *
 * @throws Failure `invalid_input` when there are none, or when the file is encrypted.
 */
export async function salvagePages(path: string, filename: string, maxPages: number): Promise<PdfFile> {
  const context = await parse(path, filename);
  if (context.trailerInfo.Encrypt !== undefined) throw damaged(filename);
  const pages: PDFRef[] = [];
  for (const [ref, object] of context.enumerateIndirectObjects()) {
    if (!(object instanceof PDFDict) || nameEntry(object, 'Type') !== 'Page' || hasLostContent(object)) continue;
    for (const key of inheritable) inheritFromParents(object, key);
    if (pages.length < maxPages) pages.push(ref);
  }
  if (pages.length === 0) throw damaged(filename);
  const catalog = context.obj({ Type: 'Catalog' });
  return { filename, context, catalog, pages, wasEncrypted: false };
}

function inheritFromParents(page: PDFDict, key: string): void {
  let node: PDFDict | undefined = page;
  for (let depth = 0; node !== undefined && depth < 32; depth++) {
    const value = rawEntry(node, key);
    if (entry(node, key) !== undefined && value !== undefined) {
      page.set(PDFName.of(key), value);
      return;
    }
    const parent = entry(node, 'Parent');
    node = parent instanceof PDFDict ? parent : undefined;
  }
}
