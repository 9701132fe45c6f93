import { describe, expect, test } from 'vitest';
import { dialogAccept, formatsOf, judgeFile, judgeFiles, mostFiles } from './file-rules.ts';

const images = { media_types: ['image/jpeg', 'image/png'], extensions: ['jpg', 'jpeg', 'png'] };
const tool = { name: 'Image Tool', accepts: images, min_files: 2, max_files: 3 };
const noLimits = { max_file_bytes: 0, max_files: 0, max_run_bytes: 0, concurrent_runs: 0 };
const limits = { max_file_bytes: 1000, max_files: 2, max_run_bytes: 1500, concurrent_runs: 1 };
const file = (name: string, size = 10, type = '') => ({ name, size, type });

describe('one file', () => {
  test('is judged by name or type', () => {
    expect(judgeFile(tool, noLimits, file('a.JPG'))).toBeUndefined();
    expect(judgeFile(tool, noLimits, file('a', 10, 'image/png'))).toBeUndefined();
    expect(judgeFile(tool, noLimits, file('a'))).toBeUndefined();
    expect(judgeFile({ ...tool, accepts: 'any' }, noLimits, file('a.xyz'))).toBeUndefined();
    expect(judgeFile(tool, noLimits, file('a.txt', 10, 'text/plain'))?.level).toBe('warning');
  });

  test('is refused when empty or too large', () => {
    expect(judgeFile(tool, noLimits, file('a.jpg', 0))?.level).toBe('error');
    expect(judgeFile(tool, limits, file('a.jpg', 1001))?.text).toBe(
      'This file is larger than the 1.0 kB that your plan allows.',
    );
    expect(judgeFile(tool, undefined, file('a.jpg', 1e12))).toBeUndefined();
  });
});

describe('files together', () => {
  test('by number', () => {
    expect(judgeFiles(tool, noLimits, [])).toBe('Add at least 2 files first.');
    expect(judgeFiles({ ...tool, min_files: 1 }, noLimits, [])).toBe('Add a file first.');
    expect(judgeFiles({ ...tool, min_files: 0 }, noLimits, [])).toBeUndefined();
    expect(judgeFiles(tool, noLimits, [file('a.jpg')])).toBe('Image Tool needs at least 2 files.');
    const four = ['a', 'b', 'c', 'd'].map((name) => file(name));
    expect(judgeFiles(tool, noLimits, four)).toBe('Image Tool takes at most 3 files.');
    expect(judgeFiles(tool, limits, four.slice(1))).toBe('Your plan allows at most 2 files a run.');
  });

  test('by size', () => {
    const two = [file('a.jpg', 900), file('b.jpg', 900)];
    expect(judgeFiles(tool, limits, two)).toBe('The files have 1.8 kB together; your plan allows 1.5 kB a run.');
    expect(judgeFiles(tool, noLimits, two)).toBeUndefined();
  });
});

test('what a tool takes', () => {
  expect(mostFiles(tool, limits)).toBe(2);
  expect(mostFiles(tool, noLimits)).toBe(3);
  expect(formatsOf(images)).toEqual(['JPG', 'PNG']);
  expect(formatsOf('any')).toEqual([]);
  expect(dialogAccept(images)).toBe('.jpg,.jpeg,.png');
  expect(dialogAccept('any')).toBeUndefined();
});
