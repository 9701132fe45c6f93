import { describe, expect, test } from 'vitest';
import { safeFilename } from '../src/commands/names.ts';

describe('safeFilename', () => {
  test.each([
    ['photo.jpg', 'photo.jpg'],
    ['Übersicht ☂ 𝒳.pdf', 'Übersicht ☂ 𝒳.pdf'],
    ['../../etc/passwd', 'passwd'],
    ['/etc/passwd', 'passwd'],
    [String.raw`C:\Windows\system.ini`, 'system.ini'],
    ['..', 'output'],
    ['.', 'output'],
    ['', 'output'],
    ['/', 'output'],
    ['.bashrc', 'bashrc'],
    ['--force', 'force'],
    ['a\u0000b\u001b[2Jc\r\n.txt', 'ab[2Jc.txt'],
    ['exe.\u202egpj.exe', 'exe.gpj.exe'],
    ['a:b|c?.txt', 'a_b_c_.txt'],
    ['nul.txt', '_nul.txt'],
    ['name. . ', 'name'],
  ])('%j becomes %j', (given, safe) => {
    expect(safeFilename(given)).toBe(safe);
  });

  test('a long name keeps its extension and fits into a file system', () => {
    const safe = safeFilename(`${'ü'.repeat(300)}.tar.gz`);
    expect(Buffer.byteLength(safe)).toBeLessThanOrEqual(200);
    expect(safe).toMatch(/^ü+\.tar\.gz$/);
  });
});
