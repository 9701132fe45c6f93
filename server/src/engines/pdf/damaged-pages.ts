import { PDFArray, PDFDict, PDFName, PDFRawStream, PDFRef, PDFStream, type PDFObject } from '@cantoo/pdf-lib';
import { hasLostContent, type PdfFile } from './document.ts';
import { isDamagedFlate, readableFlate } from './flate-damage.ts';
import { nameEntry, resolve } from './objects.ts';
import { filtersOf } from './streams.ts';
import { childrenOf } from './write.ts';

/** What of a page shows, or says how: its content, its resources and what they draw with. */
const shownEntries = ['Contents', 'Resources'];
const lineFeed = 0x0a;

/** The pages, 0-based, of which some content is lost or can no longer be unpacked; images are not looked at. */
export function damagedPages(file: PdfFile): Set<number> {
  const pages = file.pages.map((ref) => resolve(file.context, ref));
  const dicts = new Set(pages.filter((page) => page instanceof PDFDict));
  const seen = new Set<PDFObject>();
  const damaged: PDFObject[] = [];
  const holders = new Map<PDFObject, PDFObject[]>();
  // Pages share what they draw with, so everything is looked at once, and damage is followed back to its pages.
  for (const page of dicts) {
    for (const { holder, object, isNew } of shownBy(page, seen)) {
      const known = holders.get(object);
      if (known === undefined) holders.set(object, [holder]);
      else known.push(holder);
      if (isNew && object instanceof PDFStream && isDamagedStream(object)) damaged.push(object);
    }
  }
  const touched = new Set(damaged);
  for (let object = damaged.pop(); object !== undefined; object = damaged.pop()) {
    if (object instanceof PDFDict && dicts.has(object)) continue;
    for (const holder of holders.get(object) ?? []) {
      if (touched.has(holder)) continue;
      touched.add(holder);
      damaged.push(holder);
    }
  }
  const isDamaged = (page: PDFDict) => hasLostContent(page) || touched.has(page);
  return new Set(pages.flatMap((page, index) => (page instanceof PDFDict && isDamaged(page) ? [index] : [])));
}

/** Keeps what can be read of damaged page content, in place; returns how many streams lost something. */
export function keepReadable(file: PdfFile): number {
  const seen = new Set<PDFObject>();
  let count = 0;
  for (const ref of file.pages) {
    const page = resolve(file.context, ref);
    if (!(page instanceof PDFDict)) continue;
    for (const { at, stream } of streamsOf(page, seen)) {
      if (at === undefined || !(stream instanceof PDFRawStream) || !isDamagedStream(stream)) continue;
      file.context.assign(at, readablePart(stream));
      count += 1;
    }
  }
  return count;
}

/** Cut at the end of a line, so that no operator is left in halves. */
function readablePart(stream: PDFRawStream): PDFStream {
  const data = readableFlate(stream.contents);
  const dict = stream.dict.clone();
  for (const key of ['Filter', 'DecodeParms']) dict.delete(PDFName.of(key));
  return PDFRawStream.of(dict, data.subarray(0, Math.max(0, data.lastIndexOf(lineFeed))));
}

function isDamagedStream(stream: PDFStream): boolean {
  if (!(stream instanceof PDFRawStream) || nameEntry(stream.dict, 'Subtype') === 'Image') return false;
  return filtersOf(stream.dict)[0] === 'FlateDecode' && isDamagedFlate(stream.contents);
}

/** The streams that a page shows with; what has been seen is left out. */
function streamsOf(page: PDFDict, seen: Set<PDFObject>): { at: PDFRef | undefined; stream: PDFStream }[] {
  return [...shownBy(page, seen)].flatMap(({ at, object, isNew }) =>
    isNew && object instanceof PDFStream ? [{ at, stream: object }] : [],
  );
}

interface Shown {
  holder: PDFObject;
  at: PDFRef | undefined;
  object: PDFObject;
  isNew: boolean;
}

/** What a page shows with, each time something holds it; what has been seen is not followed again. */
export function* shownBy(page: PDFDict, seen: Set<PDFObject>): Generator<Shown> {
  const waiting: { holder: PDFObject; value: PDFObject }[] = shownEntries.flatMap((key) => {
    const value = page.get(PDFName.of(key));
    return value === undefined ? [] : [{ holder: page, value }];
  });
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { holder, value } = next;
    const object = resolve(page.context, value);
    // Numbers, names and texts hold nothing.
    if (!(object instanceof PDFDict || object instanceof PDFArray || object instanceof PDFStream)) continue;
    const isNew = !seen.has(object);
    yield { holder, at: value instanceof PDFRef ? value : undefined, object, isNew };
    if (!isNew) continue;
    seen.add(object);
    if (object instanceof PDFDict && nameEntry(object, 'Type') === 'Page') continue;
    for (const child of childrenOf(object)) waiting.push({ holder: object, value: child });
  }
}
