import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { afterAll, describe, expect, test } from 'vitest';
import { stopLibreOffice } from '../../engines/libreoffice.ts';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import toMarkdown from './pdf-to-markdown-converter.ts';
import toWord from './pdf-to-word-converter.ts';

/** `report.pdf` is `report.html` as Chromium printed it: headings, a table with merged cells, lists, columns, links. */
const report = pdfFixture('report');

async function markdownOf(path: string, form: Record<string, string> = {}): Promise<string> {
  await using run = await runTool(toMarkdown, [path], form);
  return readFile(run.outputs[0]?.path ?? '', 'utf8');
}

/** A page that is a picture of a heading and a sentence. */
async function scan(path: string): Promise<string> {
  const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="500" font-family="Liberation Sans">
    <rect width="1200" height="500" fill="white"/><text x="100" y="120" font-size="72">Delivery note</text>
    <text x="100" y="260" font-size="36">The parcel is with the neighbour</text>
    <text x="100" y="310" font-size="36">in the first floor of the house.</text></svg>`;
  const document = await PDFDocument.create();
  const image = await document.embedPng(await sharp(Buffer.from(drawing)).png().toBuffer());
  document.addPage([576, 240]).drawImage(image, { x: 0, y: 0, width: 576, height: 240 });
  await writeFile(path, await document.save());
  return path;
}

describe('pdf-to-markdown-converter', { timeout: 60_000 }, () => {
  test('headings, emphasis, links, tables, lists and columns in reading order', async () => {
    const text = await markdownOf(report);
    expect(text).toContain('# Annual report 2025\n\nThis is the **first** paragraph with *italic* words, a ');
    expect(text).toContain('[link to a page](<https://example.com/x?a=1&b=2>)');
    expect(text).toContain('mc<sup>2</sup> and H<sub>2</sub>O.\n\n## 1. Numbers\n\n');
    expect(text).toContain('| North | 1,234.56 | 12 % |\n| South and the very long name | 2,500.00 | 25 % |\n');
    expect(text).toMatch(
      /- First item\n- Second item [^\n]* hopefully\n {4}- Nested one\n {4}- Nested two\n- Third\n1\. Alpha\n2\. Beta/,
    );
    expect(text).toMatch(
      /Lorem ipsum[^\n]* commodo consequat\.\n\nDuis aute[^\n]* laudantium\.\n\n## 3\. Without lines/,
    );
    expect(text).toContain('| Coffee | 3 | 12.00 |\n| Cake of the day | 40 | 4.25 |');
    expect(text).toContain('Closing words after the table, with `inline code`.');
  });

  test('tables can be left as text; pictures come as files the text refers to', async () => {
    expect(await markdownOf(report, { tables: 'false' })).not.toContain('---');
    await using run = await runTool(toMarkdown, [pdfFixture('images')], { images: 'true' });
    expect(run.outputs.map(({ filename }) => filename)).toEqual([
      'images.md',
      'images-1.jpg',
      'images-2.png',
      'images-3.png',
    ]);
    expect(await readFile(run.outputs[0]?.path ?? '', 'utf8')).toContain('![](images-2.png)');
  });

  test('headers and page numbers are left out, words parted at line ends are joined', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const font = await document.embedFont(StandardFonts.Helvetica);
      for (let number = 1; number <= 3; number++) {
        const page = document.addPage([400, 500]);
        page.drawText('The running title', { x: 40, y: 470, size: 8, font });
        page.drawText(`Words of page ${number} that go over the whole width and are par-`, {
          x: 40,
          y: 400,
          size: 11,
          font,
        });
        page.drawText('ted at the end of a line.', { x: 40, y: 386, size: 11, font });
        page.drawText(String(number), { x: 200, y: 20, size: 8, font });
      }
      const path = join(directory, 'pages.pdf');
      await writeFile(path, await document.save());
      const sentence = (number: number) =>
        `Words of page ${number} that go over the whole width and are parted at the end of a line.`;
      expect(await markdownOf(path)).toBe(`${sentence(1)}\n\n${sentence(2)}\n\n${sentence(3)}\n`);
    }));

  test('a scan needs ocr', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await scan(join(directory, 'scan.pdf'));
      await expect(markdownOf(path)).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('ocr=true') as string,
      });
      expect(await markdownOf(path, { ocr: 'true' })).toBe(
        '# Delivery note\n\nThe parcel is with the neighbour in the first floor of the house.\n',
      );
      await expect(markdownOf(pdfFixture('locked'))).rejects.toMatchObject({ code: 'password_required' });
    }));
});

function documentXml(path: string): string {
  return execFileSync('unzip', ['-p', path, 'word/document.xml'], { encoding: 'utf8' });
}

describe('pdf-to-word-converter', { timeout: 120_000 }, () => {
  afterAll(() => stopLibreOffice());

  test('real headings, lists, merged cells, columns and links on a page of the same size', async () => {
    await using run = await runTool(toWord, [report]);
    const path = run.outputs[0]?.path ?? '';
    expect(run.outputs[0]).toMatchObject({ filename: 'report.docx', type: 'docx' });
    const xml = documentXml(path);
    expect(xml.match(/<w:pStyle w:val="Heading\d"/g)).toEqual(
      ['1', '2', '2', '2'].map((level) => `<w:pStyle w:val="Heading${level}"`),
    );
    expect(xml).toContain('<w:vMerge w:val="restart"/>');
    expect(xml).toContain('<w:gridSpan w:val="2"/>');
    expect(xml.match(/<w:numPr>/g)).toHaveLength(7);
    expect(xml).toContain('w:num="2"');
    expect(xml).toContain('<w:pgSz w:w="11899" w:h="16838"');
    const text = execFileSync('pandoc', ['-f', 'docx', '-t', 'plain', '--wrap=none', path], { encoding: 'utf8' });
    for (const part of ['Annual report 2025', 'joined, including E = mc', 'Duis aute irure dolor in reprehenderit']) {
      expect(text).toContain(part);
    }
    expect(execFileSync('unzip', ['-p', path, 'word/_rels/document.xml.rels'], { encoding: 'utf8' })).toContain(
      'example.com/x?a=1&amp;b=2',
    );
  });

  test('pictures stand in the document as they are in the file', async () => {
    await using run = await runTool(toWord, [pdfFixture('images')]);
    const names = execFileSync('unzip', ['-Z1', run.outputs[0]?.path ?? ''], { encoding: 'utf8' });
    expect(names.match(/word\/media\/.*\.(jpg|png)/g)).toHaveLength(3);
  });

  test.each(['odt', 'rtf'] as const)('writes %s', async (format) => {
    await using run = await runTool(toWord, [report], { format });
    expect(run.outputs[0]).toMatchObject({ filename: `report.${format}`, type: format });
    const text = execFileSync('pandoc', ['-f', format, '-t', 'plain', run.outputs[0]?.path ?? ''], {
      encoding: 'utf8',
    });
    expect(text).toContain('Annual report 2025');
  });

  test('recognises scans when asked to, and refuses them otherwise', () =>
    withTemporaryDirectory(async (directory) => {
      const path = await scan(join(directory, 'scan.pdf'));
      await expect(runTool(toWord, [path])).rejects.toMatchObject({ code: 'invalid_input', file: 'scan.pdf' });
      await using run = await runTool(toWord, [path], { ocr: 'true' });
      const xml = documentXml(run.outputs[0]?.path ?? '');
      expect(xml).toContain('The parcel is with the neighbour in the first floor of the house.');
      expect(xml).not.toContain('<w:drawing>');
    }));
});
