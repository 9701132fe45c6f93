import { readFile } from 'node:fs/promises';
import { Failure } from '../lib/failure.ts';

/** The largest list that makes sense, in bytes. */
export const maxListBytes = 5_000_000;

/**
 * The lines of a list, without empty ones; of a CSV table its first column.
 *
 * @throws Failure `invalid_input` for an unreadable table or an empty list, `resource_limit` above `maxLines`.
 */
export async function readLineList(
  { path, filename, type }: { path: string; filename: string; type: string },
  maxLines: number,
): Promise<string[]> {
  const content = await readFile(path, 'utf8');
  // A `.txt` full of commas is still a list of lines.
  const isTable = type === 'csv' && !/\.(txt|text|list)$/i.test(filename);
  const lines = isTable ? await firstColumn(content, filename) : content.replace(/^\uFEFF/, '').split(/\r\n|\r|\n/);
  const filled = lines.filter((line) => line.trim() !== '');
  if (filled.length === 0) throw new Failure('invalid_input', `"${filename}" has no lines.`, { file: filename });
  if (filled.length <= maxLines) return filled;
  const message = `"${filename}" has ${filled.length} lines; the limit is ${maxLines} codes a run.`;
  throw new Failure('resource_limit', message, { file: filename });
}

async function firstColumn(content: string, filename: string): Promise<string[]> {
  const { parse } = await import('csv-parse/sync');
  try {
    const rows = parse(content, { bom: true, relax_column_count: true, delimiter: [',', ';', '\t'] });
    return rows.map((row) => row[0] ?? '');
  } catch (error) {
    throw new Failure('invalid_input', `"${filename}" is not a readable CSV table.`, {
      file: filename,
      log: String(error),
    });
  }
}
