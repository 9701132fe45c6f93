import { expect, test } from 'vitest';
import { readRefusal } from './use-tool-form.ts';

const settings = [{ name: 'quality' }, { name: 'constructor' }];
const order = { fileIds: ['file-7', 'file-3'] };

function refusal(errors: Record<string, string[]>, unreadable: number[] = []) {
  return readRefusal(settings, order, { body: { errors } }, unreadable);
}

test('errors go to the file and the setting they are about', () => {
  expect(
    refusal({ 'files.1': ['is empty'], quality: ['must be at most 100', 'is odd'], files: ['has too few'] }),
  ).toEqual({
    files: 'This has too few.',
    byFile: { 'file-3': 'This is empty.' },
    bySetting: { quality: 'This must be at most 100. This is odd.' },
    loose: [],
  });
});

test('what the form does not have is not lost', () => {
  expect(refusal({ 'files.9': ['is empty'], zoom: ['is unknown'] }).loose).toEqual([
    '“files.9”: This is empty.',
    '“zoom”: This is unknown.',
  ]);
});

test('files that can no longer be read are named', () => {
  expect(refusal({}, [0]).byFile).toEqual({ 'file-7': 'This file can no longer be read. Add it again.' });
});

test('a reply without errors by field says nothing of fields', () => {
  expect(readRefusal(settings, order, { body: { message: 'no' } }, [])).toEqual({
    files: undefined,
    byFile: {},
    bySetting: {},
    loose: [],
  });
});
