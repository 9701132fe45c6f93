import { createServer, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { cleanFilename, contentDisposition } from './names.ts';

describe('cleanFilename', () => {
  test.each([
    ['photo.jpg', 'photo.jpg'],
    ['Übersicht 2026 (final).pdf', 'Übersicht 2026 (final).pdf'],
    ['日本語.png', '日本語.png'],
    ['👨‍👩‍👧.gif', '👨‍👩‍👧.gif'],
    ['e\u0301.txt', '\u00e9.txt'],
    ['../../etc/passwd', 'passwd'],
    ['..\\..\\x.txt', 'x.txt'],
    ['C:\\Users\\me\\report.docx', 'report.docx'],
    ['C:report.docx', 'C_report.docx'],
    ['folder/', 'folder'],
    ['-rf', 'rf'],
    ['--output=x.png', 'output=x.png'],
    ['.htaccess', 'htaccess'],
    [' . -x.txt ', 'x.txt'],
    ['report.pdf. . ', 'report.pdf'],
    ['a\0b.png', 'ab.png'],
    ['a\r\nSet-Cookie: x.png', 'aSet-Cookie: x.png'],
    ['a\u0085\u2028b.txt', 'ab.txt'],
    ['invoice\u202efdp.exe', 'invoicefdp.exe'],
    ['\u2066a\u2069.txt', 'a.txt'],
    ['<img src=x onerror=alert(1)>.png', '<img src=x onerror=alert(1)>.png'],
    ['CON', '_CON'],
    ['nul.tar.gz', '_nul.tar.gz'],
    ['com¹.txt', '_com¹.txt'],
    ['console.log', 'console.log'],
    ['bad\ud800.txt', 'bad\ufffd.txt'],
    ['', 'file'],
    ['..', 'file'],
    ['/', 'file'],
    ['\u202e', 'file'],
    ['- . -', 'file'],
    [undefined, 'file'],
  ])('%j becomes %j', (given, expected) => {
    expect(cleanFilename(given)).toBe(expected);
  });

  test.each([
    [`${'a'.repeat(300)}.jpg`, '.jpg'],
    [`${'ü'.repeat(300)}.tar.gz`, '.tar.gz'],
    [`${'👩'.repeat(100)}.webp`, '.webp'],
    [`x.${'e'.repeat(300)}`, ''],
    ['.'.repeat(500) + 'a'.repeat(500), ''],
  ])('a long name keeps 200 bytes and its extension', (given, kept) => {
    const cleaned = cleanFilename(given);
    expect(Buffer.byteLength(cleaned)).toBeLessThanOrEqual(200);
    expect(Buffer.byteLength(cleaned)).toBeGreaterThan(190);
    expect(cleaned.endsWith(kept)).toBe(true);
    expect(cleaned).toBe(cleaned.toWellFormed());
  });

  test('cleaning twice changes nothing more', () => {
    for (const name of ['CON', '-.-a', `${'a '.repeat(200)}.jpg`, 'x/..\u202e', 'a\u0301\u0323.PNG']) {
      expect(cleanFilename(cleanFilename(name))).toBe(cleanFilename(name));
    }
  });

  test('half a megabyte is cleaned at once', () => {
    const startedAt = performance.now();
    for (const part of ['.', ' ', '-', '/', 'a.', '\u202e', ' .']) cleanFilename(`x${part.repeat(250_000)}x`);
    expect(performance.now() - startedAt).toBeLessThan(1000);
  });
});

describe('contentDisposition', () => {
  test.each([
    ['photo.jpg', `attachment; filename="photo.jpg"; filename*=UTF-8''photo.jpg`],
    ['Übersicht.pdf', `attachment; filename="Ubersicht.pdf"; filename*=UTF-8''%C3%9Cbersicht.pdf`],
    ['日本.png', `attachment; filename="__.png"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.png`],
    [`a"b\\c%41.txt`, `attachment; filename="a_b_c_41.txt"; filename*=UTF-8''a%22b%5Cc%2541.txt`],
    [`it's (1)*.txt`, `attachment; filename="it's (1)*.txt"; filename*=UTF-8''it%27s%20%281%29%2A.txt`],
    ['a\r\nX-Evil: 1', `attachment; filename="a__X-Evil: 1"; filename*=UTF-8''a%0D%0AX-Evil%3A%201`],
    ['\ud800', `attachment; filename="_"; filename*=UTF-8''%EF%BF%BD`],
  ])('%j', (filename, header) => {
    expect(contentDisposition(filename)).toBe(header);
  });

  test('Node sends the header of any name, and nothing gets out of its value', async () => {
    const names = ['a"; filename=evil.html', 'a\r\n\r\n<html>', '\0\x7f\u0085', 'ﬁ½€😀.txt', "''*=;", '\udfff\ud800'];
    const server = createServer((request, response) => {
      response.setHeader('Content-Disposition', contentDisposition(names[Number(request.url?.slice(1))] ?? '')).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      for (const [index, name] of names.entries()) {
        const request = get({ port: (server.address() as AddressInfo).port, path: `/${index}`, agent: false });
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        response.resume();
        const header = response.headers['content-disposition'] ?? '';
        const [, extended = ''] = /^attachment; filename="[^"\\]*"; filename\*=UTF-8''([\w.~!%-]*)$/.exec(header) ?? [];
        expect(decodeURIComponent(extended)).toBe(name.toWellFormed());
      }
    } finally {
      server.close();
    }
  });
});
