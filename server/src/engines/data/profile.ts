import type { Json } from '@duckdb/node-api';
import { type Database, identifier } from '../duckdb.ts';
import { escapeHtml } from '../../lib/escape-html.ts';

export interface ColumnProfile {
  name: string;
  type: string;
  /** Cells with nothing in them. */
  nulls: number;
  distinct: number;
  /** As text: exact for every type. */
  min: string | null;
  max: string | null;
  /** Of numbers only. */
  mean?: number | null;
  deviation?: number | null;
  quartiles?: (number | null)[];
  /** Characters, of text only. */
  shortest?: number;
  longest?: number;
  /** The most frequent values, in order. */
  top: { value: string; count: number }[];
}

export interface TableProfile {
  file: string;
  rows: number;
  /** Rows that were looked at, when it was not all of them. */
  sampled?: number;
  columns: ColumnProfile[];
}

const numeric = /^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL.*)$/;
const topValues = 10;
const shownCharacters = 100;

/** What the columns of a table hold. `progress` is told 0 to 1. */
export async function profileTable(
  database: Database,
  { file, table, rows, sample }: { file: string; table: string; rows: number; sample: number },
  progress: (part: number) => void,
): Promise<TableProfile> {
  let from = identifier(table);
  const sampled = sample > 0 && sample < rows;
  if (sampled) {
    await database.run(
      `CREATE TABLE "the sample" AS SELECT * FROM ${from} USING SAMPLE reservoir(${sample} ROWS) REPEATABLE (1)`,
    );
    from = '"the sample"';
  }
  const described = await database.rows(`DESCRIBE ${from}`);
  const columns: ColumnProfile[] = [];
  for (const { column_name: name, column_type: type } of described) {
    columns.push(await profileColumn(database, from, String(name), String(type)));
    progress(columns.length / described.length);
  }
  if (sampled) await database.run('DROP TABLE "the sample"');
  return { file, rows, ...(sampled ? { sampled: sample } : {}), columns };
}

async function profileColumn(database: Database, from: string, name: string, type: string): Promise<ColumnProfile> {
  const nested = /^(?:STRUCT|MAP|UNION|VARIANT)\b|\[\d*\]$|^JSON$/.test(type);
  const column = nested ? `to_json(${identifier(name)})::VARCHAR` : identifier(name);
  const cells = `(SELECT ${column} AS c FROM ${from})`;
  const [basic = {}] = await database.rows(
    `SELECT count(*) - count(c) AS nulls, count(DISTINCT c) AS kinds, min(c)::VARCHAR AS low, max(c)::VARCHAR AS high FROM ${cells}`,
  );
  const top = await database.rows(
    `SELECT c::VARCHAR AS v, count(*) AS n FROM ${cells} WHERE c IS NOT NULL GROUP BY c ORDER BY n DESC, v LIMIT ${topValues}`,
  );
  const profile: ColumnProfile = {
    name,
    type,
    nulls: Number(basic['nulls']),
    distinct: Number(basic['kinds']),
    min: shown(basic['low']),
    max: shown(basic['high']),
    top: top.map(({ v, n }) => ({ value: shown(v ?? null) ?? '', count: Number(n) })),
  };
  if (numeric.test(type)) return { ...profile, ...(await numbers(database, cells)) };
  if (type !== 'VARCHAR') return profile;
  const [lengths = {}] = await database.rows(`SELECT min(length(c)) AS low, max(length(c)) AS high FROM ${cells}`);
  return profile.distinct === 0
    ? profile
    : { ...profile, shortest: Number(lengths['low']), longest: Number(lengths['high']) };
}

async function numbers(
  database: Database,
  cells: string,
): Promise<Pick<ColumnProfile, 'mean' | 'deviation' | 'quartiles'>> {
  const finite = `(SELECT c::DOUBLE AS c FROM ${cells} WHERE isfinite(c::DOUBLE))`;
  const scale = `(SELECT greatest(max(abs(c)), 1) AS s FROM ${finite})`;
  // Divided by the largest first: the square of a very large number is none.
  const [row = {}] = await database.rows(
    `SELECT avg(c / s) * any_value(s) AS mean, stddev_samp(c / s) * any_value(s) AS deviation,
      quantile_cont(c, [0.25, 0.5, 0.75]) AS quartiles FROM ${finite}, ${scale}`,
  );
  const quartiles = row['quartiles'];
  return {
    mean: toNumber(row['mean']),
    deviation: toNumber(row['deviation']),
    quartiles: Array.isArray(quartiles) ? quartiles.map(toNumber) : [],
  };
}

function toNumber(value: Json | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(15)) : null;
}

function shown(value: Json | undefined): string | null {
  if (value === null || value === undefined) return null;
  const text = String(value as string);
  return text.length > shownCharacters ? `${text.slice(0, shownCharacters)}…` : text;
}

const style =
  'body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1b1f24;background:#fff}' +
  'table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #d0d7de;vertical-align:top}' +
  'td.n{text-align:right;font-variant-numeric:tabular-nums}small{color:#57606a}ol{margin:0;padding-left:1.2rem}code{overflow-wrap:anywhere}' +
  '@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}small{color:#8b949e}}';

/** A profile as a page of its own, without scripts. */
export function profileHtml({ file, rows, sampled, columns }: TableProfile): string {
  const looked = sampled ?? rows;
  const title = escapeHtml(file);
  const of = sampled === undefined ? '' : `, of which ${sampled.toLocaleString('en')} were looked at`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head>
<body><h1>${title}</h1><p>${rows.toLocaleString('en')} rows${of}, ${columns.length} columns</p>
<table><thead><tr><th>Column</th><th>Empty</th><th>Distinct</th><th>Range</th><th>Numbers</th><th>Most frequent</th></tr></thead><tbody>
${columns.map((column) => columnHtml(column, looked)).join('\n')}
</tbody></table></body></html>
`;
}

function columnHtml(column: ColumnProfile, rows: number): string {
  const { name, type, nulls, distinct, min, max, mean, deviation, quartiles = [], shortest, longest, top } = column;
  const empty = rows === 0 ? '' : ` <small>${((nulls / rows) * 100).toFixed(1)} %</small>`;
  const range = min === null ? '' : `<code>${escapeHtml(min)}</code> to <code>${escapeHtml(max ?? '')}</code>`;
  const lengths = shortest === undefined ? '' : `<br><small>${shortest} to ${longest} characters</small>`;
  const average =
    mean === undefined || mean === null
      ? ''
      : `mean ${mean}<br>deviation ${deviation ?? ''}<br>quartiles ${quartiles.join(', ')}`;
  const values = top.map(
    ({ value, count }) => `<li><code>${escapeHtml(value)}</code> <small>${count.toLocaleString('en')}</small></li>`,
  );
  return `<tr><td><b>${escapeHtml(name)}</b><br><small>${escapeHtml(type)}</small></td><td class="n">${nulls.toLocaleString('en')}${empty}</td><td class="n">${distinct.toLocaleString('en')}</td><td>${range}${lengths}</td><td>${average}</td><td><ol>${values.join('')}</ol></td></tr>`;
}
