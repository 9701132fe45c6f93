import type { Cases } from '../tool-case.ts';

export const textCases: Cases = {
  'code-minifier': { fails: { 'source_map=true': 'the first sample is HTML' } },
  'code-formatter': {},
  'text-encoding-converter': {
    // Every encoding has these characters, and only UTF-16 has them at two bytes each.
    replaces: { txt: { filename: 'plain.txt', content: 'Plain words, and numbers: 1, 2, 3.\n' } },
    fails: {
      'from=utf-16': 'an odd number of bytes is no UTF-16',
      'from=utf-16be': 'an odd number of bytes is no UTF-16',
    },
  },
  'text-differ': {},
  'markdown-to-html-converter': {},
  'html-to-markdown-converter': {},
};
