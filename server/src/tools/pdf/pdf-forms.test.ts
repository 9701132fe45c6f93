import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument } from '@cantoo/pdf-lib';
import { describe, expect, test } from 'vitest';
import { formFields, pdfFixture, popplerText, qpdfCheck, qpdfText, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import extractor from './pdf-form-extractor.ts';
import filler from './pdf-form-filler.ts';

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
