import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commentedRtf, paragraph, writeDocx } from '../../../test/office-fixtures.ts';
import { runTool } from '../../../test/run-tool.ts';
import { libreoffice, stopLibreOffice } from '../../engines/libreoffice.ts';
import { pandoc } from '../../engines/pandoc.ts';
import documentConverter from './document-converter.ts';

const versions = await Promise.all([libreoffice.version(), pandoc.version()]);
const missing = versions.includes(undefined);
if (missing) console.warn(`SKIPPED: document-converter needs ${libreoffice.install} and ${pandoc.install}`);

const fixture = (name: string) => join(import.meta.dirname, '../../../test/fixtures/word', name);
const run = promisify(execFile);
let folder: string;
const file = (name: string) => join(folder, name);

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const markdown = `# Überschrift

Some **bold** text, a note[^1], a ![dot](${pixel}) and ![file](/etc/hostname).

<p onclick="bad()">raw</p><script>bad()</script>

[bad](javascript:bad())

| a | b |
|---|---|
| 1 | 2 |

## Second

[^1]: The note.
`;

/** The text of what a file is converted to. */
async function convert(names: string[], form: Record<string, string>): Promise<string> {
  await using result = await runTool(documentConverter, names, form);
  const output = result.outputs[0]!;
  return await textOf(output.path, form['format']!);
}

async function textOf(path: string, format: string): Promise<string> {
  if (format === 'pdf') return (await run('pdftotext', ['-layout', path, '-'])).stdout;
  const inside = { docx: 'word/document.xml', odt: 'content.xml', epub: 'EPUB/text/ch001.xhtml' }[format];
  if (inside === undefined) return await readFile(path, 'utf8');
  return (await run('unzip', ['-p', path, inside])).stdout;
}

describe.skipIf(missing)('document-converter', { timeout: 120_000 }, () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrun-document-'));
    await writeFile(file('text.md'), markdown);
    await writeFile(file('plain.txt'), 'erste äöü\nzweite\n', 'latin1');
    const heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Chapter</w:t></w:r></w:p>';
    await writeDocx(file('one.docx'), { body: heading + paragraph('Body text') });
  });

  afterAll(async () => {
    await stopLibreOffice();
    await rm(folder, { recursive: true, force: true });
  });

  test.each(['docx', 'odt', 'rtf', 'txt', 'html', 'md', 'pdf', 'epub'])('turns a DOC into %s', async (format) => {
    const text = await convert([fixture('letter.doc')], { format });
    expect(text.replaceAll(/<[^>]*>/g, '')).toMatch(format === 'rtf' ? /Second paragraph/ : /Second paragraph äöü €/);
  });

  test.each(['docx', 'odt', 'rtf', 'txt', 'html', 'md', 'pdf', 'epub'])('turns Markdown into %s', async (format) => {
    const text = await convert([file('text.md')], { format });
    expect(text).toContain('Second');
    expect(text).not.toMatch(/<script|bad\(\)|onclick/);
  });

  test('keeps pictures inside the page and the Markdown, and none of this machine', async () => {
    await using docx = await runTool(documentConverter, [file('text.md')], { format: 'docx' });
    const { path } = docx.outputs[0]!;
    expect((await run('unzip', ['-l', path])).stdout.match(/word\/media\//g)).toHaveLength(1);
    for (const format of ['md', 'html']) {
      const text = await convert([path], { format });
      expect(text.match(/data:image\/png;base64,iVBORw0KGgo/g)).toHaveLength(1);
      expect(text).not.toContain('/etc/hostname');
    }
  });

  test('puts a filled table of contents in front of a PDF', async () => {
    const text = await convert([file('text.md')], { format: 'pdf', toc: 'true' });
    expect(text).toMatch(/Überschrift[ .]+1/);
  });

  test('takes the styles of the last file', async () => {
    await using reference = await runTool(documentConverter, [file('text.md')], { format: 'odt' });
    const path = reference.outputs[0]!.path;
    const form = { format: 'odt', reference_doc: 'last_file' };
    await using result = await runTool(documentConverter, [file('text.md'), path], form);
    expect(result.outputs).toHaveLength(1);
    await expect(convert([file('text.md')], form)).rejects.toThrow('needs two files');
    await expect(convert([file('text.md'), path], { ...form, format: 'pdf' })).rejects.toThrow('docx and odt');
  });

  test('reads no file that a LaTeX or reStructuredText names', async () => {
    await writeFile(file('secret.txt'), 'SECRET');
    await writeFile(file('a.tex'), String.raw`\section{One}\input{${file('secret.txt')}} end`);
    await writeFile(file('a.rst'), `One\n===\n\n.. include:: ${file('secret.txt')}\n`);
    for (const type of ['tex', 'rst'] as const) {
      const message = `a.${type} includes another file, and it must stand alone.`;
      await expect(convertAs(type, `a.${type}`)).rejects.toMatchObject({ code: 'invalid_input', message });
    }
    await writeFile(
      file('b.tex'),
      String.raw`\documentclass{article}\usepackage{amsmath}\begin{document}\section{One}\end{document}`,
    );
    expect(await convertAs('tex', 'b.tex')).toContain('# One');
  });

  test('keeps comments', async () => {
    await writeFile(file('comment.rtf'), commentedRtf);
    expect(await convert([file('comment.rtf')], { format: 'odt' })).toMatch(/<office:annotation .*A thought/);
    expect(await convert([file('comment.rtf')], { format: 'txt' })).toBe('before after\n');
  });

  test('opens a locked document with its password', async () => {
    const locked = fixture('encrypted.docx');
    await expect(convert([locked], { format: 'md' })).rejects.toMatchObject({ code: 'password_required' });
    expect(await convert([locked], { format: 'md', password: 'geheim ä' })).toContain('Second paragraph');
  });

  test('refuses damaged files', async () => {
    const bytes = await readFile(file('one.docx'));
    await writeFile(file('cut.docx'), bytes.subarray(0, bytes.length / 2));
    for (const format of ['md', 'odt'] as const) {
      await expect(convertAs('docx', 'cut.docx', format)).rejects.toMatchObject({ code: 'invalid_input' });
    }
  });
});

/** Converts a file that is of a format by what its name says. */
async function convertAs(type: 'tex' | 'rst' | 'docx', name: string, format: 'md' | 'odt' = 'md'): Promise<string> {
  const target = file(`out.${format}`);
  const path = file(name);
  await documentConverter.run({
    inputs: [{ path, filename: name, stem: 'out', type, sizeBytes: 1 }],
    settings: { format, toc: false, reference_doc: 'none', password: undefined },
    output: () => target,
    scratch: folder,
    progress: () => undefined,
    signal: new AbortController().signal,
    log: () => undefined,
  } as unknown as Parameters<typeof documentConverter.run>[0]);
  return await readFile(target, 'utf8');
}
