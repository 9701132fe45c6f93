import { expect } from 'vitest';
import type { Cases, Seen, ToolCase } from '../tool-case.ts';

const rows = ([table]: readonly Seen[]) => expect(table?.rows).toBe(3);
const names = ([output]: readonly Seen[]) => expect(output?.text).toContain('Bert, jr.');

/** Every encoding but UTF-16 has these characters, and an odd number of bytes is no UTF-16. */
const plain = {
  filename: 'rows.csv',
  content: `name,city,amount,date
Anna,Wien,12.5,2026-01-05
"Bert, jr.",Brno,7,2026-02-11
"Cleo ""C.""",Ostrava,13.25,2026-03-17
`,
};
const delimited: Pick<ToolCase, 'replaces' | 'fails'> = {
  replaces: { csv: plain },
  fails: {
    'encoding=utf-16le': 'an odd number of bytes is no UTF-16',
    'encoding=utf-16be': 'an odd number of bytes is no UTF-16',
    'delimiter=;': 'its quoted cells end at commas',
    'delimiter=tab': 'its quoted cells end at commas',
    'delimiter=|': 'its quoted cells end at commas',
  },
};

export const dataCases: Cases = {
  'csv-to-json-converter': { ...delimited, expect: rows },
  'json-to-csv-converter': {
    values: { delimiter: [';', 'tab'], path: ['$[0]', '$.*'] },
    expect: names,
  },
  'excel-to-csv-converter': {
    values: { sheet: ['1'], delimiter: [';'], password: [] },
    refuses: { encrypted_office: 'password_required' },
    expect: names,
  },
  'csv-to-excel-converter': { ...delimited, expect: ([table]) => expect(table?.rows).toBe(4) },
  'yaml-to-json-converter': { expect: ([output]) => expect(output?.text).toContain('"Old mill"') },
  'json-to-yaml-converter': { expect: names },
  'xml-to-json-converter': { expect: ([output]) => expect(output?.text).toContain('wet & late') },
  'json-to-xml-converter': { values: { root: ['people'] }, expect: names },
  'csv-to-parquet-converter': { ...delimited, expect: rows },
  'parquet-to-csv-converter': { values: { columns: ['name,city'] }, expect: names },
  'json-formatter': {},
  'json-validator': {},
  'xml-formatter': { expect: ([output]) => expect(output?.text).toContain('wet &amp; late') },
  'csv-merger': { ...delimited, expect: ([table]) => expect(table?.text?.match(/Anna/g)).toHaveLength(2) },
  'csv-splitter': {
    ...delimited,
    settings: { rows: '2' },
    values: { by_column: ['city'] },
    expect: (parts) => expect(parts).toHaveLength(2),
  },
  'csv-cleaner': { ...delimited, expect: names },
  'csv-profiler': {
    ...delimited,
    refuses: { encrypted_office: 'password_required' },
    expect: ([report]) => expect(report?.text).toContain('city'),
  },
  'data-query-runner': {
    settings: { sql: 'SELECT * FROM input' },
    refuses: { encrypted_office: 'password_required' },
    expect: names,
  },
  'chart-maker': {
    ...delimited,
    // A scatter chart needs numbers on both sides.
    together: { type: { x: 'amount', y: 'amount' } },
    values: { x: ['city'], y: ['amount'], title: ['Amounts'] },
    expect: ([image]) => expect(image).toMatchObject({ width: 1000, height: 600 }),
  },
};
