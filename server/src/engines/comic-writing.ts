import { createWriteStream } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { writeZip } from './archives.ts';
import type { ComicPage } from './comic.ts';

/** Writes the pages as a CBZ: a ZIP of pictures whose names sort as the pages do. */
export async function writeCbz(pages: readonly ComicPage[], target: string, signal: AbortSignal): Promise<void> {
  const entries = [];
  for (const { path } of pages) entries.push({ name: basename(path), path, sizeBytes: (await stat(path)).size });
  await writeZip(target, entries, { level: 0, signal, onBytes: () => undefined });
}

/** Writes a PDF with a page as large as each picture, at 150 pixels per inch. */
export async function writeComicPdf(pages: readonly ComicPage[], target: string, signal: AbortSignal): Promise<void> {
  const { PDFDocument } = await import('@cantoo/pdf-lib');
  const document = await PDFDocument.create();
  const toPoints = 72 / 150;
  for (const { path, width, height } of pages) {
    signal.throwIfAborted();
    const size = { width: width * toPoints, height: height * toPoints };
    const picture = await document.embedJpg(await readFile(path));
    document.addPage([size.width, size.height]).drawImage(picture, { x: 0, y: 0, ...size });
  }
  await writeFile(target, await document.save());
}

/** Writes an EPUB 3 of a fixed layout: one picture fills each page. The same pages make the same book. */
export async function writeComicEpub(
  pages: readonly ComicPage[],
  target: string,
  { title, signal }: { title: string; signal: AbortSignal },
): Promise<void> {
  const { ZipFile } = await import('yazl');
  const zip = new ZipFile();
  const add = (name: string, text: string, compress = true) => zip.addBuffer(Buffer.from(text), name, { compress });
  add('mimetype', 'application/epub+zip', false); // First and not compressed: that is how a book is known.
  add('META-INF/container.xml', container);
  add('OEBPS/content.opf', packageOf(pages, title));
  add('OEBPS/nav.xhtml', navigation(pages.length, title));
  for (const [index, page] of pages.entries()) {
    add(`OEBPS/page-${index + 1}.xhtml`, pageDocument(page, index + 1));
    zip.addFile(page.path, `OEBPS/page-${index + 1}.jpg`, { compress: false });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(target), { signal });
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

const container = `${declaration}
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`;

function packageOf(pages: readonly ComicPage[], title: string): string {
  const items = pages.map((_, index) => {
    const number = index + 1;
    const cover = index === 0 ? ' properties="cover-image"' : '';
    return `<item id="p${number}" href="page-${number}.xhtml" media-type="application/xhtml+xml"/>
<item id="i${number}" href="page-${number}.jpg" media-type="image/jpeg"${cover}/>`;
  });
  return `${declaration}
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">comic:${escapeXml(title)}</dc:identifier><dc:title>${escapeXml(title)}</dc:title><dc:language>und</dc:language>
<meta property="dcterms:modified">1980-01-01T12:00:00Z</meta>
<meta property="rendition:layout">pre-paginated</meta><meta property="rendition:spread">auto</meta>
</metadata>
<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
${items.join('\n')}
</manifest>
<spine>${pages.map((_, index) => `<itemref idref="p${index + 1}"/>`).join('')}</spine>
</package>`;
}

function navigation(count: number, title: string): string {
  const links = Array.from({ length: count }, (_, index) => {
    const number = index + 1;
    return `<li><a href="page-${number}.xhtml">${number}</a></li>`;
  });
  return `${declaration}
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><head><title>${escapeXml(title)}</title></head>
<body><nav epub:type="toc"><ol>${links.join('')}</ol></nav></body></html>`;
}

function pageDocument({ width, height }: ComicPage, number: number): string {
  return `${declaration}
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>${number}</title>
<meta name="viewport" content="width=${width}, height=${height}"/>
<style>body { margin: 0; } img { display: block; width: ${width}px; height: ${height}px; }</style></head>
<body><img src="page-${number}.jpg" alt="Page ${number}"/></body></html>`;
}

function escapeXml(text: string): string {
  return text
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}
