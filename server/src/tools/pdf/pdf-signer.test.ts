import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PDFDocument, PDFName, PDFString } from '@cantoo/pdf-lib';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { pdfFixture, qpdfCheck, renderAll } from '../../../test/pdf-checks.ts';
import { runTool } from '../../../test/run-tool.ts';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import { readIdentity } from '../../engines/pkcs12.ts';
import tool from './pdf-signer.ts';

const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

/** A key with its certificate, made now: one that lies in the repository would expire. */
function certificate(directory: string, kind: string[], days = '2'): string {
  const [key, cert, p12] = ['key.pem', 'cert.pem', 'me.p12'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  openssl(
    'req',
    '-x509',
    '-newkey',
    ...kind,
    '-nodes',
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    days,
    '-subj',
    '/CN=Žofie Tester',
  );
  openssl('pkcs12', '-export', '-inkey', key, '-in', cert, '-out', p12, '-passout', 'pass:geheim');
  return p12;
}

const rsa = ['rsa:2048'];
const curve = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
const pades = { mode: 'pades', certificate_password: 'geheim' };

function pdfsig(path: string): string {
  try {
    return execFileSync('pdfsig', ['-nocert', path], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** Takes the signature out of the file and has OpenSSL judge it. */
async function judge(path: string, directory: string): Promise<string> {
  const bytes = await readFile(path);
  const [, a = 0, b = 0, c = 0] =
    /ByteRange \[(\d+) (\d+) (\d+) (\d+)\](?![\s\S]*ByteRange)/.exec(bytes.toString('latin1'))?.slice(1).map(Number) ??
    [];
  const [signature, content] = [join(directory, 'signature.der'), join(directory, 'content')];
  await writeFile(signature, Buffer.from(bytes.toString('latin1', a + 1, b - 1), 'hex'));
  await writeFile(content, Buffer.concat([bytes.subarray(0, a), bytes.subarray(b, b + c)]));
  const args = ['-in', signature, '-inform', 'DER', '-content', content, '-CAfile', join(directory, 'cert.pem')];
  return execFileSync(
    'sh',
    ['-c', 'openssl cms -verify -cades -binary -purpose any -out /dev/null "$@" 2>&1', 'sh', ...args],
    { encoding: 'utf8' },
  );
}

async function red(directory: string): Promise<string> {
  const path = join(directory, 'red.png');
  await sharp({ create: { width: 100, height: 50, channels: 4, background: '#ff0000' } })
    .png()
    .toFile(path);
  return path;
}

describe('pdf-signer', { timeout: 60_000 }, () => {
  test.each([
    ['RSA', rsa],
    ['ECDSA', curve],
  ])('PAdES with %s holds, also when it is signed again', (_, kind) =>
    withTemporaryDirectory(async (directory) => {
      const p12 = certificate(directory, kind);
      await using once = await runTool(tool, [pdfFixture('three-pages'), p12], { ...pades, reason: 'I agree' });
      const first = once.outputs[0]?.path ?? '';
      expect(qpdfCheck(first)).toContain('No syntax or stream encoding errors');
      expect(pdfsig(first)).toMatch(/ETSI\.CAdES\.detached[\s\S]*Total document signed[\s\S]*Signature is Valid/);
      expect(await judge(first, directory)).toContain('Verification successful');
      await using twice = await runTool(tool, [first, p12, await red(directory)], { ...pades, page: '1' });
      const second = twice.outputs[0]?.path ?? '';
      expect(pdfsig(second).match(/Signature is Valid/g)).toHaveLength(2);
      const bytes = await readFile(first);
      expect((await readFile(second)).subarray(0, bytes.length).equals(bytes)).toBe(true);
      expect(qpdfCheck(second)).toContain('No syntax or stream encoding errors');
    }),
  );

  test('a signed file with a table of its objects in plain text stays without fault', () =>
    withTemporaryDirectory(async (directory) => {
      const p12 = certificate(directory, curve);
      const document = await PDFDocument.create();
      const value = document.context.obj({ Type: 'Sig' });
      const field = document.context.register(
        document.context.obj({ FT: 'Sig', T: PDFString.of('first'), V: document.context.register(value) }),
      );
      document.addPage();
      document.catalog.set(PDFName.of('AcroForm'), document.context.obj({ Fields: [field], SigFlags: 3 }));
      const source = join(directory, 'signed.pdf');
      await writeFile(source, await document.save({ useObjectStreams: false }));
      await using run = await runTool(tool, [source, p12], pades);
      const signed = run.outputs[0]?.path ?? '';
      expect(qpdfCheck(signed)).toContain('No syntax or stream encoding errors');
      expect((await readFile(signed)).subarray(0, 100).equals((await readFile(source)).subarray(0, 100))).toBe(true);
    }));

  test('a picture stands where it was asked for', () =>
    withTemporaryDirectory(async (directory) => {
      const source = pdfFixture('three-pages');
      await using run = await runTool(tool, [source, await red(directory)], {
        page: '2',
        x: '10',
        y: '20',
        width: '40',
      });
      const [before, after] = await Promise.all([renderAll(source), renderAll(run.outputs[0]?.path ?? '')]);
      expect(after.map((page, index) => page.equals(before[index] ?? page))).toEqual([true, false, true]);
      const image = [await red(directory)];
      const far = runTool(tool, [source, ...image], { x: '5000' });
      await expect(far).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('fit') as string,
      });
      await expect(runTool(tool, [source, ...image], { page: '9' })).rejects.toThrow(/no page 9/);
      await expect(runTool(tool, [source, ...image], pades)).rejects.toThrow(/exactly one .p12/);
      await expect(runTool(tool, [source, ...image], { page: '0' })).rejects.toThrow(/must not be 0/);
    }));

  test('wrong passwords, broken and expired certificates are refused', () =>
    withTemporaryDirectory(async (directory) => {
      const source = pdfFixture('three-pages');
      const p12 = certificate(directory, curve);
      const refused = (files: (string | { path: string; filename: string })[], form: Record<string, string>) =>
        expect(runTool(tool, files, form)).rejects;
      await refused([source, p12], { mode: 'pades' }).toMatchObject({ code: 'password_required' });
      await refused([source, p12], { ...pades, certificate_password: 'x' }).toMatchObject({
        code: 'password_required',
      });
      await refused([pdfFixture('locked'), p12], pades).toMatchObject({ code: 'password_required' });
      const whole = await readFile(p12);
      const later = readIdentity(whole, 'geheim', 'me.p12', new Date('2100-01-01'));
      await expect(later).rejects.toMatchObject({
        code: 'invalid_input',
        message: expect.stringContaining('expired') as string,
      });
      await writeFile(p12, whole.subarray(0, whole.length / 2));
      await refused([source, p12], pades).toThrow();
    }));
});
