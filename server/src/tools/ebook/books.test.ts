import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runTool } from '../../../test/run-tool.ts';
import { calibre } from '../../engines/calibre.ts';
import { epubcheck } from '../../engines/epubcheck.ts';
import { convertMarkup, pandoc } from '../../engines/pandoc.ts';
import ebookConverter from './ebook-converter.ts';
import ebookMetadataEditor from './ebook-metadata-editor.ts';
import epubValidator from './epub-validator.ts';

const engines = [calibre, epubcheck, pandoc];
const versions = await Promise.all(engines.map((engine) => engine.version()));
const missing = versions.includes(undefined);
if (missing) console.warn(`SKIPPED: books need ${engines.map(({ install }) => install).join('; ')}`);

const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

describe.skipIf(missing)('books', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-book-'));
    await writeFile(file('book.md'), '# One\n\nErste äöü €\n\n# Two\n\nText\n');
    const book = { path: file('book.md'), filename: 'book.md', type: 'md' } as const;
    const options = { format: 'epub', title: 'Book', toc: false, target: file('book.epub'), scratch: folder } as const;
    await convertMarkup(book, { ...options, signal: AbortSignal.timeout(60_000) });
    const bytes = await readFile(file('book.epub'));
    await writeFile(file('cut.epub'), bytes.subarray(0, bytes.length / 2));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('makes a PDF with a cover', async () => {
    await sharp({ create: { width: 300, height: 400, channels: 3, background: '#f00' } }).toFile(file('cover.png'));
    const form = { format: 'pdf', cover: 'last_file' };
    await using result = await runTool(ebookConverter, [file('book.epub'), file('cover.png')], form);
    expect(result.outputs).toHaveLength(1);
    expect((await run('pdftotext', [result.outputs[0]!.path, '-'])).stdout).toContain('Erste äöü €');
    expect((await run('pdfimages', ['-list', result.outputs[0]!.path])).stdout).toContain('image');
  });

  test('makes a Kindle book and text of it', async () => {
    await using kindle = await runTool(ebookConverter, [file('book.epub')], { format: 'azw3' });
    expect((await readFile(kindle.outputs[0]!.path)).subarray(60, 68).toString()).toBe('BOOKMOBI');
    await using text = await runTool(ebookConverter, [kindle.outputs[0]!.path], { format: 'txt' });
    expect(await readFile(text.outputs[0]!.path, 'utf8')).toContain('Erste äöü €');
  });

  test('writes metadata', async () => {
    const form = { title: '-Neu ä', author: 'A & B', series: 'S', language: 'de', isbn: '978-3-16-148410-0' };
    await using result = await runTool(ebookMetadataEditor, [file('book.epub')], form);
    const { stdout } = await run('unzip', ['-p', result.outputs[0]!.path, 'EPUB/content.opf']);
    for (const value of ['-Neu ä', '>A<', '>B<', '9783161484100', 'de</dc:language>']) expect(stdout).toContain(value);
    await expect(runTool(ebookMetadataEditor, [file('book.epub')])).rejects.toThrow('is required');
  });

  test('refuses damaged books', async () => {
    const expected = { code: 'invalid_input', file: 'cut.epub' };
    await expect(runTool(ebookConverter, [file('cut.epub')])).rejects.toMatchObject(expected);
    await expect(runTool(ebookMetadataEditor, [file('cut.epub')], { title: 'x' })).rejects.toMatchObject(expected);
  });

  test('reports what is wrong in a book', async () => {
    await using result = await runTool(epubValidator, [file('cut.epub')]);
    const report = JSON.parse(await readFile(result.outputs[0]!.path, 'utf8')) as Record<string, unknown>;
    expect(report).toMatchObject({ file: 'cut.epub', valid: false, fatals: 1, messages: [{ severity: 'fatal' }] });
  });
});
