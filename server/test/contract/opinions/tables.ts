import { readFile } from 'node:fs/promises';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { Opinion } from './opinion.ts';

export const json: Opinion = async (path) => {
  const content = await readFile(path, 'utf8');
  const value: unknown = JSON.parse(content);
  return Array.isArray(value) ? { text: content, rows: value.length } : { text: content };
};

export const jsonLines: Opinion = async (path) => {
  const content = (await readFile(path, 'utf8')).trim();
  const rows = content.split('\n').map((line): unknown => JSON.parse(line));
  return { text: content, rows: rows.length };
};

export const parquet: Opinion = async (path) => {
  const compressors = {
    GZIP: (input: Uint8Array) => gunzipSync(input),
    ZSTD: (input: Uint8Array) => zstdDecompressSync(input),
  };
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(path), compressors });
  return { rows: rows.length, text: Object.keys(rows[0] ?? {}).join(',') };
};
