import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { formFields, pdfFixture, popplerText, qpdfCheck } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import linearizer from './pdf-linearizer.ts';
import protector from './pdf-protector.ts';
import unlocker from './pdf-unlocker.ts';

/** What Debian's pdfinfo, which shares no code with qpdf, says of encryption. */
function popplerEncryption(path: string, password: string): string | undefined {
  const info = execFileSync('pdfinfo', ['-upw', password, path], { encoding: 'utf8', stdio: 'pipe' });
  return /^Encrypted:\s*(.*)$/m.exec(info)?.[1];
}

type Form = Record<string, string>;

describe('pdf-protector', { timeout: 60_000 }, () => {
  test('the file opens with the password, and allows what was asked for', async () => {
    await using run = await runTool(protector, [pdfFixture('form')], { user_password: '--@ Ümlaut 中' });
    const path = run.outputs[0]?.path ?? '';
    expect(popplerEncryption(path, '--@ Ümlaut 中')).toBe(
      'yes (print:yes copy:no change:no addNotes:no algorithm:AES-256)',
    );
    expect(() => popplerEncryption(path, '')).toThrow();
    await expect(runTool(unlocker, [path], { password: 'other' })).rejects.toMatchObject({ code: 'password_required' });
    await using unlocked = await runTool(unlocker, [path], { password: '--@ Ümlaut 中' });
    expect(formFields(unlocked.outputs[0]?.path ?? '')).toEqual(formFields(pdfFixture('form')));
  });

  test('AES-128, every right but printing, and an owner password', async () => {
    const form = { user_password: 'cheese', owner_password: 'own', cipher: 'aes128', allow_print: 'none' };
    const rights = { allow_copy: 'true', allow_modify: 'true', allow_annotate: 'true' };
    await using run = await runTool(protector, [pdfFixture('three-pages')], { ...form, ...rights });
    const path = run.outputs[0]?.path ?? '';
    expect(popplerEncryption(path, 'cheese')).toBe('yes (print:no copy:yes change:yes addNotes:yes algorithm:AES)');
    await using unlocked = await runTool(unlocker, [path], { password: 'own' });
    expect(popplerText(unlocked.outputs[0]?.path ?? '')).toEqual(['Alpha 1', 'Alpha 2', 'Alpha 3']);
  });

  test('protects a protected file anew', async () => {
    await using run = await runTool(protector, [pdfFixture('locked')], { password: 'secret', user_password: 'new' });
    expect(popplerEncryption(run.outputs[0]?.path ?? '', 'new')).toContain('AES-256');
    const locked = runTool(protector, [pdfFixture('locked')], { user_password: 'new' });
    await expect(locked).rejects.toMatchObject({ code: 'password_required' });
  });

  test.each([
    [{}, /user_password/],
    [{ user_password: 'a', owner_password: 'a' }, /must differ/],
    [{ user_password: '中', cipher: 'aes128' }, /32 Latin letters/],
    [{ user_password: 'x'.repeat(33), cipher: 'aes128' }, /32 Latin letters/],
  ] as [Form, RegExp][])('refuses %o before the run', async (form, message) => {
    await expect(runTool(protector, [pdfFixture('form')], form)).rejects.toThrow(message);
  });

  test('a file without pages', async () => {
    const run = runTool(protector, [pdfFixture('zero-pages')], { user_password: 'a' });
    await expect(run).rejects.toMatchObject({ code: 'invalid_input', message: 'zero-pages.pdf has no pages.' });
  });
});

describe('pdf-unlocker', { timeout: 60_000 }, () => {
  test('removes passwords and restrictions', async () => {
    await using run = await runTool(unlocker, [pdfFixture('locked')], { password: 'secret' });
    expect(qpdfCheck(run.outputs[0]?.path ?? '')).toContain('File is not encrypted');
    const wrong = runTool(unlocker, [pdfFixture('locked')], { password: 'no' });
    await expect(wrong).rejects.toMatchObject({ code: 'password_required' });
  });

  test('a file that has none comes back as it was', async () => {
    await using run = await runTool(unlocker, [pdfFixture('form')], { password: 'any' });
    expect(await readFile(run.outputs[0]?.path ?? '')).toEqual(await readFile(pdfFixture('form')));
  });

  test('an unknown kind of encryption', async () => {
    const run = runTool(unlocker, [pdfFixture('unknown-encryption')], { password: 'a' });
    await expect(run).rejects.toMatchObject({ code: 'invalid_input', message: /cannot be opened/ });
  });
});

describe('pdf-linearizer', { timeout: 60_000 }, () => {
  test('arranges, with and without object streams', async () => {
    await using packed = await runTool(linearizer, [pdfFixture('twelve-pages')], {});
    const path = packed.outputs[0]?.path ?? '';
    expect(qpdfCheck(path)).toContain('File is linearized');
    await using plain = await runTool(linearizer, [path], { object_streams: 'false' });
    expect(qpdfCheck(plain.outputs[0]?.path ?? '')).toContain('File is linearized');
    expect((await readFile(plain.outputs[0]?.path ?? '')).includes('/ObjStm')).toBe(false);
  });

  test('an encrypted file stays encrypted; a damaged one is repaired', async () => {
    await using run = await runTool(linearizer, [pdfFixture('locked'), pdfFixture('bad-xref')], { password: 'secret' });
    const [locked = '', repaired = ''] = run.outputs.map(({ path }) => path);
    expect(popplerEncryption(locked, 'secret')).toContain('AES-256');
    expect(qpdfCheck(repaired)).toContain('File is linearized');
  });
});
