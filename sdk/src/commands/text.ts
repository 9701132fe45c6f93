/**
 * Text of somebody else, made safe to show on a terminal: control characters could move its cursor, and marks of direction
 * could turn what stands there around.
 */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, ' ');
}

const units = ['kB', 'MB', 'GB', 'TB'];

/** `1.2 MB`; thousands, as the service counts. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const power = Math.min(units.length, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(1)} ${units[power - 1]}`;
}

export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Rows in columns, the first row being the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return rows.map((row) => line(row).trimEnd()).join('\n');
}

export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** `2026-11-21 13:24` in UTC. */
export function formatTime(time: string | null): string {
  return time === null ? '-' : time.slice(0, 16).replace('T', ' ');
}
