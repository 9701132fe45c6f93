import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { bookmarks, pdfFixture, qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import tool from './pdf-metadata-editor.ts';

type Form = Record<string, string>;

/** What ExifTool reads, by group: `PDF` is the document information, `XMP-…` the packet. */
function exif(path: string): Record<string, unknown> {
  const [tags] = JSON.parse(execFileSync('exiftool', ['-json', '-G1', path], { encoding: 'utf8' })) as Record<
    string,
    unknown
  >[];
  return tags ?? {};
}

function xmlOf(path: string): string {
  return execFileSync('pdfinfo', ['-meta', path], { encoding: 'utf8' });
}

const packet = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdf="http://ns.adobe.com/pdf/1.3/" pdf:Keywords="old" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" pdfaid:part="2"/>
<rdf:Description rdf:about="" xmlns:d="http://purl.org/dc/elements/1.1/"><d:title><rdf:Alt><rdf:li xml:lang="x-default">Old &amp; title</rdf:li></rdf:Alt></d:title>
<d:creator><rdf:Seq><rdf:li>Old author</rdf:li></rdf:Seq></d:creator></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`;

async function withPacket(directory: string): Promise<string> {
  const document = await PDFDocument.create({ updateMetadata: false });
  document.addPage([100, 100]);
  const { context, catalog } = document;
  catalog.set(PDFName.of('Metadata'), context.register(context.stream(packet, { Type: 'Metadata', Subtype: 'XML' })));
  const path = join(directory, 'packet.pdf');
  await writeFile(path, await document.save());
  return path;
}

describe('pdf-metadata-editor', { timeout: 60_000 }, () => {
  test('sets properties in both places, in any script; the rest stays', async () => {
    const form = { title: 'Größe & <Maß> 中文', author: 'Ada, Bob', keywords: 'one, two' };
    await using run = await runTool(tool, [pdfFixture('three-pages'), pdfFixture('outline')], form);
    const [path = '', outline = ''] = run.outputs.map((output) => output.path);
    expect(qpdfCheck(path)).toContain('No syntax or stream encoding errors');
    const tags = exif(path);
    expect(tags).toMatchObject({
      'PDF:Title': form.title,
      'XMP-dc:Title': form.title,
      'PDF:Author': 'Ada, Bob',
      'XMP-dc:Creator': 'Ada, Bob',
      'XMP-pdf:Keywords': 'one, two',
      'XMP-dc:Subject': ['one', 'two'],
      'PDF:Creator': 'Millrun fixtures',
      'XMP-xmp:CreatorTool': 'Millrun fixtures',
    });
    expect(tags['PDF:ModifyDate']).toBe(tags['XMP-xmp:ModifyDate']);
    expect(bookmarks(outline)).toEqual(bookmarks(pdfFixture('outline')));
  });

  test('changes an existing packet and keeps what it does not know', () =>
    withTemporaryDirectory(async (directory) => {
      await using run = await runTool(tool, [await withPacket(directory)], { keywords: 'new', report: 'true' });
      const [path = '', json = ''] = run.outputs.map((output) => output.path);
      const xml = xmlOf(path);
      execFileSync('xmllint', ['--noout', '-'], { input: xml });
      expect(xml).toContain('pdfaid:part="2"');
      expect(xml).not.toContain('old');
      expect(exif(path)).toMatchObject({
        'PDF:Title': 'Old & title',
        'XMP-dc:Title': 'Old & title',
        'XMP-pdf:Keywords': 'new',
      });
      expect(JSON.parse(await readFile(json, 'utf8'))).toMatchObject({
        file: 'packet.pdf',
        title: 'Old & title',
        author: 'Old author',
        keywords: 'new',
        subject: null,
      });
    }));

  test('clears', async () => {
    await using run = await runTool(tool, [pdfFixture('three-pages')], { clear: 'true' });
    const cleared = exif(run.outputs[0]?.path ?? '');
    for (const name of ['PDF:Title', 'PDF:Creator', 'PDF:CreateDate']) expect(cleared).not.toHaveProperty(name);
    await using titled = await runTool(tool, [pdfFixture('three-pages')], { clear: 'true', title: 'New' });
    const tags = exif(titled.outputs[0]?.path ?? '');
    expect(tags).toMatchObject({ 'PDF:Title': 'New', 'XMP-dc:Title': 'New' });
    expect(tags).not.toHaveProperty('PDF:Creator');
  });

  test('something has to be asked for', async () => {
    await expect(runTool(tool, [pdfFixture('form')], {} as Form)).rejects.toThrow(/is required/);
  });
});
