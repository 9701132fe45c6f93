import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFName } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { formFields, pdfFixture, popplerText, qpdfCheck, qpdfText, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import extractor from './pdf-form-extractor.ts';
import filler from './pdf-form-filler.ts';
import pageExtractor from './pdf-page-extractor.ts';

/** A form with a field of every kind, as a program with widgets of several pages writes it. */
async function application(directory: string): Promise<string> {
  const document = await PDFDocument.create();
  const [first, second] = [document.addPage([400, 300]), document.addPage([400, 300])];
  const form = document.getForm();
  const name = form.createTextField('person.name');
  name.setMaxLength(12);
  name.enableRequired();
  name.addToPage(first, { x: 20, y: 250, width: 150, height: 25 });
  name.addToPage(second, { x: 20, y: 250, width: 150, height: 25 });
  const notes = form.createTextField('notes');
  notes.enableMultiline();
  notes.setText('before');
  notes.addToPage(first, { x: 20, y: 180, width: 150, height: 50 });
  form.createCheckBox('agreed').addToPage(first, { x: 20, y: 150, width: 15, height: 15 });
  const size = form.createRadioGroup('size');
  size.addOptionToPage('small', first, { x: 60, y: 150, width: 15, height: 15 });
  size.addOptionToPage('large', first, { x: 90, y: 150, width: 15, height: 15 });
  const country = form.createDropdown('country');
  country.setOptions(['Österreich', 'Ελλάδα', 'Japan']);
  country.addToPage(first, { x: 20, y: 110, width: 150, height: 20 });
  const colors = form.createOptionList('colors');
  colors.setOptions(['red', 'green', 'blue']);
  colors.enableMultiselect();
  colors.addToPage(first, { x: 20, y: 30, width: 150, height: 60 });
  const fixed = form.createTextField('fixed');
  fixed.setText('as it is');
  fixed.enableReadOnly();
  fixed.addToPage(first, { x: 200, y: 250, width: 150, height: 25 });
  const path = join(directory, 'application.pdf');
  await writeFile(path, await document.save());
  return path;
}

const answers = {
  'person.name': 'Žofie Ωλ',
  notes: 'first line\nsecond line',
  agreed: true,
  size: 'large',
  country: 'Ελλάδα',
  colors: ['red', 'blue'],
};
const form = (fields: unknown, others: Record<string, string> = {}) => ({ fields: JSON.stringify(fields), ...others });
const path = (run: { outputs: { path: string }[] }) => run.outputs[0]?.path ?? '';

describe('pdf forms', { timeout: 60_000 }, () => {
  test('what was filled in is read back, shows, and can be changed again', () =>
    withTemporaryDirectory(async (directory) => {
      await using filled = await runTool(filler, [await application(directory)], form(answers, { flatten: 'false' }));
      expect(qpdfCheck(path(filled))).toContain('No syntax or stream encoding errors');
      const values = Object.fromEntries(formFields(path(filled)).map(([name, value]) => [name, value]));
      expect(values).toMatchObject({ notes: 'first line\nsecond line', agreed: '/Yes', country: 'Ελλάδα' });
      const text = popplerText(path(filled));
      for (const word of ['Žofie Ωλ', 'second line', 'Ελλάδα', 'as it is']) expect(text[0]).toContain(word);
      expect(text[1]).toContain('Žofie Ωλ');
      await using read = await runTool(extractor, [path(filled)]);
      const { fields } = JSON.parse(await readFile(path(read), 'utf8')) as {
        fields: { name: string; value: unknown }[];
      };
      expect(Object.fromEntries(fields.map(({ name, value }) => [name, value]))).toEqual({
        ...answers,
        fixed: 'as it is',
        size: '1',
      });
      expect(fields[0]).toMatchObject({ type: 'text', page: 1, required: true, read_only: false, max_length: 12 });
      expect(fields.find(({ name }) => name === 'size')).toMatchObject({
        type: 'radio',
        options: [
          { value: '0', label: 'small' },
          { value: '1', label: 'large' },
        ],
      });
    }));

  test('flattened, the values are part of the pages', () =>
    withTemporaryDirectory(async (directory) => {
      const source = await application(directory);
      await using run = await runTool(filler, [source], form(answers));
      expect(popplerText(path(run))[0]).toContain('Žofie Ωλ');
      expect(qpdfText(path(run))).not.toContain('/AcroForm');
      const [before, after] = await Promise.all([renderAll(source), renderAll(path(run))]);
      const darkAt = (pixels: Buffer | undefined) => (pixels?.[((300 - 157) * 400 + 97) * 3] ?? 255) < 128;
      expect([darkAt(before[0]), darkAt(after[0])]).toEqual([false, true]); // The middle of "large".
    }));

  test.each([0, 90, 180, 270])('what is filled into a field turned by %d degrees is turned with it', (turn) =>
    withTemporaryDirectory(async (directory) => {
      const document = await PDFDocument.create();
      const field = document.getForm().createTextField('name');
      const size = turn % 180 === 0 ? { width: 200, height: 20 } : { width: 20, height: 200 };
      field.addToPage(document.addPage([300, 300]), { x: 40, y: 40, ...size });
      field.acroField.getWidgets()[0]?.dict.set(PDFName.of('MK'), document.context.obj({ R: turn }));
      const source = join(directory, 'turned.pdf');
      await writeFile(source, await document.save());
      await using run = await runTool(filler, [source], form({ name: 'abcdefgh' }));
      const [page] = await renderAll(path(run));
      const dark = Array.from({ length: 300 * 300 }, (_, at) => at).filter((at) => (page?.[at * 3] ?? 255) < 128);
      const [columns, rows] = [dark.map((at) => at % 300), dark.map((at) => Math.floor(at / 300))];
      const [left, right] = [Math.min(...columns), Math.max(...columns)];
      const [top, bottom] = [Math.min(...rows), Math.max(...rows)];
      expect([right - left > 30, bottom - top > 30]).toEqual([turn % 180 === 0, turn % 180 !== 0]);
      // It begins at the edge of the field that is its left when the page is turned so that it reads upright.
      const start = { 0: left - 40, 90: 260 - bottom, 180: 240 - right, 270: top - 60 }[turn];
      expect(start).toBeGreaterThan(0);
      expect(start).toBeLessThan(6);
    }),
  );

  test('buttons that do not name the field above them belong to it all the same', () =>
    withTemporaryDirectory(async (directory) => {
      const source = await application(directory);
      const document = await PDFDocument.load(await readFile(source));
      const buttons = document.getForm().getRadioGroup('size').acroField.getWidgets();
      for (const { dict } of buttons) dict.delete(PDFName.of('Parent'));
      await writeFile(source, await document.save());
      const sizes = (file: string) => formFields(file).filter(([name]) => name === 'size' || name === '');
      const answer = form({ size: 'large' }, { flatten: 'false' });
      await using filled = await runTool(filler, [source], answer);
      expect(sizes(path(filled)).map(([, value]) => value)).toEqual(['/1', '/1']);
      await using page = await runTool(pageExtractor, [source], { pages: '1' });
      await using later = await runTool(filler, [path(page)], answer);
      expect(sizes(path(later)).map(([, value]) => value)).toEqual(['/1', '/1']);
    }));

  test('CSV and FDF', () =>
    withTemporaryDirectory(async (directory) => {
      await using filled = await runTool(filler, [await application(directory)], form(answers, { flatten: 'false' }));
      await using csv = await runTool(extractor, [path(filled)], { format: 'csv' });
      const lines = (await readFile(path(csv), 'utf8')).split('\n');
      expect(lines[0]).toBe('name,type,value,options,page,required,read_only,description');
      expect(lines).toContain('country,dropdown,Ελλάδα,Österreich; Ελλάδα; Japan,1,false,false,');
      await using fdf = await runTool(extractor, [path(filled)], { format: 'fdf' });
      expect(fdf.outputs[0]?.type).toBe('fdf');
      const text = await readFile(path(fdf), 'latin1');
      expect(text).toContain('<< /T (person.name) /V <feff017d006f0066006900650020');
      expect(text).toContain('<< /T (agreed) /V /Yes >>');
      expect(text).toContain('<< /T (colors) /V [(red) (blue)] >>');
    }));

  test.each([
    [{ 'person.nam': 'x' }, /no field "person.nam"; did you mean "person.name"/],
    [{ telephone: 'x' }, /it has person.name, notes, agreed/],
    [{ size: 'medium' }, /takes one of 0 \(small\), 1 \(large\)/],
    [{ country: 'Mars' }, /one of Österreich, Ελλάδα, Japan/],
    [{ country: ['Japan', 'Ελλάδα'] }, /one option only/],
    [{ 'person.name': 'far too long a name' }, /at most 12 characters/],
    [{ 'person.name': 'a\nb' }, /one line/],
    [{ 'person.name': true }, /text or a number/],
    [{ agreed: 'maybe' }, /one of true, false, Yes/],
    [{ fixed: 'x' }, /read-only/],
    [{ notes: '漢字' }, /cannot draw: 漢 字/],
  ])('%j is refused', (fields, message) =>
    withTemporaryDirectory(async (directory) => {
      const run = runTool(filler, [await application(directory)], form(fields));
      await expect(run).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringMatching(message) as string,
      });
    }),
  );

  test('a file without fields, and settings that are no fields', async () => {
    const plain = pdfFixture('three-pages');
    const refused = { code: 'invalid_input', message: expect.stringContaining('has no form fields') as string };
    await expect(runTool(filler, [plain], form({ a: 'b' }))).rejects.toMatchObject(refused);
    await expect(runTool(extractor, [plain])).rejects.toMatchObject(refused);
    await expect(runTool(extractor, [pdfFixture('locked')])).rejects.toMatchObject({ code: 'password_required' });
    for (const fields of [{}, [], 'x', { a: {} }])
      await expect(runTool(filler, [plain], form(fields))).rejects.toThrow(/must/);
  });
});
