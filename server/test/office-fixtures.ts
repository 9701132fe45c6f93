import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

interface Docx {
  /** The paragraphs inside `w:body`. */
  body: string;
  /** `Relationship` elements of the document. */
  relationships?: string;
  /** `word/settings.xml`. */
  settings?: string;
}

const relationshipTypes = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageTypes = 'http://schemas.openxmlformats.org/package/2006';
const wordTypes = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

/** Writes the smallest DOCX that word processors take. */
export async function writeDocx(path: string, { body, relationships = '', settings }: Docx): Promise<string> {
  const zip = new ZipFile();
  const add = (name: string, xml: string) =>
    zip.addBuffer(Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${xml}`), name);
  add(
    '[Content_Types].xml',
    `<Types xmlns="${packageTypes}/content-types">
      <Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
      <Override PartName="/word/document.xml" ContentType="${wordTypes}.document.main+xml"/>
      ${settings === undefined ? '' : `<Override PartName="/word/settings.xml" ContentType="${wordTypes}.settings+xml"/>`}
    </Types>`,
  );
  add(
    '_rels/.rels',
    `<Relationships xmlns="${packageTypes}/relationships">
      <Relationship Id="r1" Type="${relationshipTypes}/officeDocument" Target="word/document.xml"/></Relationships>`,
  );
  const toSettings = `<Relationship Id="rSettings" Type="${relationshipTypes}/settings" Target="settings.xml"/>`;
  add(
    'word/_rels/document.xml.rels',
    `<Relationships xmlns="${packageTypes}/relationships">${relationships}${settings === undefined ? '' : toSettings}</Relationships>`,
  );
  add(
    'word/document.xml',
    `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"
      xmlns:r="${relationshipTypes}"
      xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"
      xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"
      xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><w:body>${body}</w:body></w:document>`,
  );
  if (settings !== undefined) {
    add(
      'word/settings.xml',
      `<w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${settings}</w:settings>`,
    );
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(path));
  return path;
}

export function paragraph(text: string): string {
  return `<w:p><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export const pageBreak = '<w:p><w:r><w:br w:type="page"/></w:r></w:p>';

/** `Keep `, an inserted and a deleted word, ` end`. */
export const trackedChanges = `<w:p><w:r><w:t xml:space="preserve">Keep </w:t></w:r>
  <w:ins w:id="1" w:author="Ann" w:date="2024-01-01T00:00:00Z"><w:r><w:t>INSERTED</w:t></w:r></w:ins>
  <w:del w:id="2" w:author="Ann" w:date="2024-01-01T00:00:00Z"><w:r><w:delText>DELETED</w:delText></w:r></w:del>
  <w:r><w:t xml:space="preserve"> end</w:t></w:r></w:p>`;

/** An RTF document with a comment, `A thought`, between the words `before` and `after`. */
export const commentedRtf = String.raw`{\rtf1\ansi before{\*\atnid A}{\*\atnauthor Ann}\chatn{\*\annotation{\pard A thought}} after\par}`;

/** A picture that is only linked, with the relationship it needs. */
export function linkedPicture(id: string, address: string): { body: string; relationship: string } {
  return {
    body: `<w:p><w:r><w:drawing><wp:inline><wp:extent cx="1905000" cy="1905000"/><wp:docPr id="1" name="x"/>
      <a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic>
      <pic:nvPicPr><pic:cNvPr id="1" name="x"/><pic:cNvPicPr/></pic:nvPicPr>
      <pic:blipFill><a:blip r:link="${id}"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill>
      <pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="1905000" cy="1905000"/></a:xfrm>
      <a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr>
      </pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`,
    relationship: `<Relationship Id="${id}" TargetMode="External" Type="${relationshipTypes}/image" Target="${address}"/>`,
  };
}
