import { expect } from 'vitest';
import type { Cases } from '../tool-case.ts';

export const archiveCases: Cases = {
  'archive-creator': {
    values: { password: ['secret'], name: ['photos'] },
    expect: ([archive]) => expect(archive?.entries).toHaveLength(1),
  },
  'archive-extractor': {
    values: { password: [], include: ['**/*.txt'] },
    fails: { 'max_files=1': 'the sample holds three files' },
  },
  'archive-converter': {
    settings: { format: 'zip' },
    values: { password: [], new_password: ['secret'] },
    expect: ([archive]) => expect(archive?.entries?.length).toBeGreaterThan(0),
  },
  'archive-inspector': { values: { password: [] } },
  'gzip-compressor': { fails: { 'level=19': 'gzip goes to 9' } },
};
