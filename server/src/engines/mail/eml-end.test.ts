import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../test/temporary.ts';
import { writeFile } from 'node:fs/promises';
import { breaksOff } from './eml-end.ts';
import { readMail } from './read-mail.ts';

const sample = join(import.meta.dirname, '../../../test/fixtures/samples/eml.eml');
/** 200 bytes: three lines of base64, the last one closed by `=`. */
const attached = Buffer.from('0123456789'.repeat(20))
  .toString('base64')
  .replaceAll(/(.{76})/g, '$1\r\n');

/** A mail with a text and an attachment, without its closing boundary. */
function unclosed(attachment: string, encoding = 'base64', type = 'application/pdf'): Buffer {
  return Buffer.from(
    [
      'From: a@example.org',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed;',
      '\tboundary="=_a b"',
      '',
      'This is a message of several parts.',
      '--=_a b',
      'Content-Type: text/plain',
      '',
      'Text -- with dashes',
      '--',
      'Signature',
      '--=_a b',
      `Content-Type: ${type}; name="a"`,
      `Content-Transfer-Encoding: ${encoding}`,
      '',
      attachment,
    ].join('\r\n'),
  );
}

describe('a message that breaks off', () => {
  test.each([
    ['a line of base64 whose length is not of fours', unclosed(`${attached.slice(0, 100)}1\r\n`)],
    ['base64 in the middle of a line', unclosed(attached.slice(0, 78 + 40))],
    ['base64 between full lines', unclosed(attached.slice(0, 2 * 78))],
    ['the header of a part', unclosed('').subarray(0, -6)],
    ['an escape of quoted-printable', unclosed('caf=C3=A', 'quoted-printable', 'text/plain')],
    ['HTML', unclosed('<html><body><p>Half a\r\n', '8bit', 'text/html')],
    ['a word', unclosed('Half a wo', '7bit', 'text/plain')],
    ['an attached message', unclosed('Subject: Inner\r\n\r\nHalf a wo', '7bit', 'message/rfc822')],
  ])('in %s', (_, bytes) => expect(breaksOff(bytes)).toBe(true));

  test.each([
    ['base64 that is closed', unclosed(`${attached}\r\n`)],
    ['base64 whose last line is shorter', unclosed(`${attached.slice(0, 78 + 40)}\r\n`)],
    ['a text', unclosed('Whole.\r\n', '7bit', 'text/plain')],
    ['an attached message', unclosed('Subject: Inner\r\n\r\nWhole.\r\n', '7bit', 'message/rfc822')],
    ['HTML', unclosed('<html><body>Whole</body></ht=\r\nml>\r\n', 'quoted-printable', 'text/html')],
    ['its closing boundary without a line end', unclosed('Whole\r\n--=_a b--', '7bit', 'text/plain')],
    ['a single part', Buffer.from('Subject: a\n\nNo line end')],
    ['headers only', Buffer.from('Subject: a\n')],
  ])('not one that ends with %s', (_, bytes) => expect(breaksOff(bytes)).toBe(false));

  test('not one of boundary lines only, whose number costs no more than it says', () => {
    const head = 'Content-Type: multipart/mixed; boundary=a\n\n';
    expect(breaksOff(Buffer.from(`${head}${'--a\n'.repeat(60_000)}--a--\n`))).toBe(false);
  });

  test('in a header that runs into a boundary, or not', () => {
    const head = 'Content-Type: multipart/mixed; boundary=a\n\n--a\nContent-Type: text/plain\n';
    expect(breaksOff(Buffer.from(`${head}--a\n\nWhole.\n`))).toBe(false);
    expect(breaksOff(Buffer.from(`${head}--a\n\nHalf a wo`))).toBe(true);
  });

  test('not one of endless depth', () => {
    const levels = Array.from(
      { length: 60_000 },
      (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n`,
    );
    expect(breaksOff(Buffer.from(`${levels.join('')}\n${'--x\n'.repeat(100_000)}Whole.\n`))).toBe(false);
  });

  test('of more short lines than the parser can hold is refused before it is parsed', () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'lines.eml');
      const bytes = `From: a@example.org\n\n${'\n--'.repeat(600_000)}`;
      await writeFile(path, bytes);
      const mail = readMail({ path, filename: 'lines.eml', type: 'eml', sizeBytes: bytes.length });
      await expect(mail).rejects.toMatchObject({
        code: 'resource_limit',
        message: 'lines.eml has more than 500,000 lines besides those of Base64.',
      });
    }));

  test('a large attachment in Base64 is no such mail', { timeout: 60_000 }, () =>
    withTemporaryDirectory(async (directory) => {
      const path = join(directory, 'large.eml');
      const bytes = Buffer.concat([unclosed(`${'A'.repeat(60)}\r\n`.repeat(510_000)), Buffer.from('--=_a b--\r\n')]);
      await writeFile(path, bytes);
      const mail = await readMail({ path, filename: 'large.eml', type: 'eml', sizeBytes: bytes.length });
      expect(mail.attachments[0]?.content.length).toBe(510_000 * 45);
    }),
  );

  test('a real one, cut at every byte of its attachment, is refused by its name', () =>
    withTemporaryDirectory(async (directory) => {
      const whole = await readFile(sample);
      expect(breaksOff(whole)).toBe(false);
      const [start, end] = [whole.indexOf('bmFtZSxj'), whole.indexOf('NwoK') + 2];
      for (let length = start + 1; length < whole.lastIndexOf('=\n'); length++) {
        expect(breaksOff(whole.subarray(0, length)), `cut at ${length}`).toBe(true);
      }
      const path = join(directory, 'cut.eml');
      await writeFile(path, whole.subarray(0, start + 90));
      const mail = readMail({ path, filename: 'cut.eml', type: 'eml', sizeBytes: end });
      await expect(mail).rejects.toMatchObject({
        code: 'invalid_input',
        message: /^cut\.eml is damaged: it breaks off/,
      });
    }));
});
