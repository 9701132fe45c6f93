import { expect, test } from 'vitest';
import { previewKindOf } from './preview-kind.ts';

test.each([
  ['image/png', 'image'],
  ['image/svg+xml', 'drawing'],
  ['text/html', 'text'],
  ['text/html; charset=utf-8', 'text'],
  ['application/xhtml+xml', 'none'],
  ['application/xml', 'text'],
  ['text/csv', 'csv'],
  ['application/x-ndjson', 'json'],
  ['application/pdf', 'pdf'],
  ['video/mp4', 'video'],
  ['application/zip', 'none'],
  ['', 'none'],
])('%s is shown as %s', (media_type, kind) => {
  expect(previewKindOf({ media_type })).toBe(kind);
});
