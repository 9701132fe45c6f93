import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPdf } from '../src/engines/pdfium.ts';

/** The path of a fixture, without `.pdf`. */
export function pdfFixture(name: string): string {
  return join(import.meta.dirname, 'fixtures', 'pdf', `${name}.pdf`);
}

/** What Debian's qpdf, which shares no code with our writer, has to say; throws for a damaged file. */
export function qpdfCheck(path: string): string {
  return execFileSync('qpdf', ['--check', path], { encoding: 'utf8' });
}

interface QpdfOutline {
  title: string;
  destpageposfrom1: number | null;
  kids: QpdfOutline[];
}

/** Bookmarks as qpdf reads them: `[title, page, children]`, pages from 1. */
export type Bookmark = [string, number | null, Bookmark[]];
export function bookmarks(path: string): Bookmark[] {
  const { outlines } = qpdfJson(path, 'outlines') as { outlines: QpdfOutline[] };
  const plain = (items: QpdfOutline[]): Bookmark[] =>
    items.map((item) => [item.title, item.destpageposfrom1, plain(item.kids)]);
  return plain(outlines);
}

interface QpdfForm {
  acroform: { fields: { fullname: string; value: unknown; pageposfrom1: number }[] };
}

/** Form fields as qpdf reads them: `[name, value, page]`. */
export function formFields(path: string): [string, unknown, number][] {
  const { acroform } = qpdfJson(path, 'acroform') as QpdfForm;
  return acroform.fields.map(({ fullname, value, pageposfrom1 }) => [fullname, value, pageposfrom1]);
}

interface QpdfPages {
  pages: { label: Record<string, unknown> | null }[];
}
export function labels(path: string): (Record<string, unknown> | null)[] {
  return (qpdfJson(path, 'pages') as QpdfPages).pages.map(({ label }) => label);
}

export function qpdfJson(path: string, key: string): unknown {
  return JSON.parse(execFileSync('qpdf', ['--json=1', `--json-key=${key}`, path], { encoding: 'utf8' }));
}

/** The file's objects, unpacked, as text. */
export function qpdfText(path: string): string {
  return execFileSync('qpdf', ['--qdf', '--object-streams=disable', path, '-'], { encoding: 'latin1' });
}

/** The text of each page, by Debian's pdftotext. */
export function popplerText(path: string): string[] {
  const text = execFileSync('pdftotext', [path, '-'], { encoding: 'utf8' });
  return text
    .split('\f')
    .slice(0, -1)
    .map((page) => page.trim());
}

/** Pages as PDFium paints them, at 72 dpi: RGB. */
export async function renderAll(path: string): Promise<Buffer[]> {
  const scratch = await mkdtemp(join(tmpdir(), 'millrun-render-'));
  try {
    return await readPdf({ path, filename: 'rendered.pdf', scratch }, (reader) =>
      Promise.resolve(
        Array.from(
          { length: reader.pageCount },
          (_, page) => reader.render(page, { dpi: 72, transparent: false }).pixels,
        ),
      ),
    );
  } finally {
    await rm(scratch, { recursive: true });
  }
}

/** The mean difference of two pictures of one size, 0 to 255. */
export function difference(a: Buffer | undefined, b: Buffer | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) return 255;
  let sum = 0;
  for (const [index, value] of a.entries()) sum += Math.abs(value - (b[index] ?? 0));
  return sum / a.length;
}
