import { expect, test } from 'vitest';
import { labelOfChoice, labelOfName, toSentence } from './labels.ts';

test.each([
  ['target_size_kb', 'Target size (kB)'],
  ['max_width', 'Max width'],
  ['dpi', 'DPI'],
  ['pdfa', 'PDF/A'],
  ['s', 'S'],
  ['strip_exif', 'Strip EXIF'],
])('the setting %s is called %s', (name, label) => {
  expect(labelOfName(name)).toBe(label);
});

test.each([
  ['top-left', 'Top left'],
  ['webp', 'WebP'],
  ['tar.gz', 'tar.gz'],
  ['h264', 'h264'],
  ['utf-8', 'utf-8'],
  ['px', 'px'],
  [';', ';'],
  ['M', 'M'],
])('the choice %s is called %s', (value, label) => {
  expect(labelOfChoice(value)).toBe(label);
});

test.each([
  ['must be between 1 and 100', 'This must be between 1 and 100.'],
  ['is required', 'This is required.'],
  ['"0": must be a text', '"0": must be a text.'],
  ['PDF Merger needs at least 2 files', 'PDF Merger needs at least 2 files.'],
])('%s reads as a sentence', (rule, sentence) => {
  expect(toSentence(rule)).toBe(sentence);
});
