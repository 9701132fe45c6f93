import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { pdfFixture } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import toHtml from './pdf-to-html-converter.ts';
import toSlides from './pdf-to-powerpoint-converter.ts';

const report = pdfFixture('report');

describe('pdf-to-html-converter', { timeout: 60_000 }, () => {
  test('text stands at its place over a picture of the rest, without scripts, as well-formed markup', async () => {
    await using run = await runTool(toHtml, [report]);
    const html = await readFile(run.outputs[0]?.path ?? '', 'utf8');
    expect(run.outputs[0]).toMatchObject({ filename: 'report.html', type: 'html' });
    expect(html).toMatch(
      /<text x="63" y="83\.25" font-family="Arial, sans-serif" font-size="22" font-weight="bold"[^>]*>Annual report 2025<\/text>/,
    );
    expect(html).toMatch(
      /<a href="https:\/\/example\.com\/x\?a=1&amp;b=2"[^>]*><text [^>]*>link to a page<\/text><\/a>/,
    );
    expect(html).toContain('<image href="data:image/png;base64,');
    expect(html).not.toMatch(/<script/i);
    const [svg = ''] = /<svg[\s\S]*<\/svg>/.exec(html) ?? [];
    execFileSync('xmllint', ['--noout', '-'], { input: svg });
  });

  test('pictures go beside the page in a ZIP, or are left out', async () => {
    await using separate = await runTool(toHtml, [pdfFixture('images')], { images: 'separate' });
    const path = separate.outputs[0]?.path ?? '';
    expect(execFileSync('unzip', ['-Z1', path], { encoding: 'utf8' })).toBe('index.html\npage-1.jpg\n');
    expect(execFileSync('unzip', ['-p', path, 'index.html'], { encoding: 'utf8' })).toContain('href="page-1.jpg"');
    await using none = await runTool(toHtml, [report], { images: 'none' });
    expect(await readFile(none.outputs[0]?.path ?? '', 'utf8')).not.toContain('<image');
  });

  test('text of the file never becomes markup', () =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const font = await document.embedFont(StandardFonts.Courier);
      document.addPage([400, 100]).drawText('<script>alert("x")</script>&amp;', { x: 20, y: 50, size: 10, font });
      const path = join(directory, 'a<b>&.pdf');
      await writeFile(path, await document.save());
      await using run = await runTool(toHtml, [path]);
      const html = await readFile(run.outputs[0]?.path ?? '', 'utf8');
      expect(html).toContain('<title>a&lt;b&gt;&amp;</title>');
      expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;amp;</text>');
    }));

  test('a scan is carried as its picture, but not without pictures', async () => {
    await using run = await runTool(toHtml, [pdfFixture('scanned')]);
    expect(await readFile(run.outputs[0]?.path ?? '', 'utf8')).toContain('<image');
    await expect(runTool(toHtml, [pdfFixture('scanned')], { images: 'none' })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    await expect(runTool(toHtml, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
  });
});

function slide(path: string, number: number): string {
  return execFileSync('unzip', ['-p', path, `ppt/slides/slide${number}.xml`], { encoding: 'utf8' });
}

describe('pdf-to-powerpoint-converter', { timeout: 60_000 }, () => {
  test('each page a picture on a slide of the size of the first page', async () => {
    await using run = await runTool(toSlides, [pdfFixture('mixed-sizes')], { dpi: '72' });
    const path = run.outputs[0]?.path ?? '';
    expect(run.outputs[0]).toMatchObject({ filename: 'mixed-sizes.pptx', type: 'pptx' });
    const show = execFileSync('unzip', ['-p', path, 'ppt/presentation.xml'], { encoding: 'utf8' });
    expect(show).toContain('<p:sldSz cx="7556500" cy="10693400"/>');
    expect(show.match(/<p:sldId /g)).toHaveLength(4);
    expect(slide(path, 4).match(/<p:pic>/g)).toHaveLength(1);
  });

  test('editable slides have text, links and pictures', async () => {
    await using run = await runTool(toSlides, [report, pdfFixture('images')], { editable: 'true' });
    const text = slide(run.outputs[0]?.path ?? '', 1);
    for (const part of ['Annual report 2025', 'link to a page', '1,234.56', 'Nested two'])
      expect(text).toContain(`${part}</a:t>`);
    expect(text).toContain('<a:hlinkClick ');
    const pictures = slide(run.outputs[1]?.path ?? '', 1);
    expect(pictures.match(/<p:pic>/g)).toHaveLength(3);
    expect(pictures).toContain('A page with pictures');
    expect(pictures).toContain('CC4D1A');
  });

  test('a scan keeps its picture; a locked file needs its password', async () => {
    await using run = await runTool(toSlides, [pdfFixture('scanned')], { editable: 'true' });
    expect(slide(run.outputs[0]?.path ?? '', 1)).toContain('<p:pic>');
    await using open = await runTool(toSlides, [pdfFixture('locked')], { password: 'secret' });
    expect(open.outputs).toHaveLength(1);
    await expect(runTool(toSlides, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
  });
});
