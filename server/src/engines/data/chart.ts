import type { Spec } from 'vega';
import type { TopLevelSpec } from 'vega-lite';
import { type Database, identifier } from '../duckdb.ts';
import type { Engine } from '../engine.ts';
import { packageVersion } from '../npm-package.ts';
import { columnIndex } from './csv-tables.ts';
import { type DataSource, invalid } from './source.ts';

export const vegaLite: Engine = {
  id: 'vega-lite',
  name: 'Vega-Lite',
  license: 'BSD-3-Clause',
  version: () => packageVersion('vega-lite'),
};

export const chartTypes = ['bar', 'line', 'pie', 'scatter'] as const;
export const aggregates = ['sum', 'mean', 'min', 'max', 'count'] as const;

export interface ChartOptions {
  type: (typeof chartTypes)[number];
  /** Names of columns; the first with text and the first with numbers otherwise. */
  x: string | undefined;
  y: string | undefined;
  /** What becomes of several rows with the same x, in all charts but scatter. */
  aggregate: (typeof aggregates)[number];
  title: string | undefined;
  /** Of the whole picture, in pixels. */
  width: number;
  height: number;
}

interface Column {
  name: string;
  kind: 'number' | 'date' | 'text';
}

interface Point {
  x: string | number;
  y: number;
}

const maxBars = 50;
const maxSlices = 12;
const maxPoints = 2000;

/**
 * Draws a chart of a table as SVG.
 *
 * @throws Failure `invalid_input` for columns there are not, that hold no numbers, or for rows of which nothing can be drawn.
 */
export async function drawChart(
  database: Database,
  source: DataSource,
  table: string,
  options: ChartOptions,
): Promise<string> {
  const columns = await columnsOf(database, table);
  const { x, y } = chooseAxes(source, columns, options);
  const { points, note } = await readPoints(database, table, { x, y }, options);
  if (points.length === 0) throw invalid(source, `has no row with something in both "${x.name}" and "${y.name}".`);
  if (options.type === 'pie' && points.some((point) => point.y < 0))
    throw invalid(source, 'has negative values, of which a pie has no slices.');
  if (options.type === 'pie' && points.every((point) => point.y === 0))
    throw invalid(source, 'has only zeros, of which a pie has no slices.');
  return await render(specOf(points, { x, y }, note, options));
}

async function columnsOf(database: Database, table: string): Promise<Column[]> {
  const described = await database.rows(`DESCRIBE ${identifier(table)}`);
  return described.map(({ column_name: name, column_type: type }) => ({
    name: String(name),
    kind: kindOf(String(type)),
  }));
}

function kindOf(type: string): Column['kind'] {
  if (/^(?:U?(?:TINY|SMALL|BIG|HUGE)?INT(?:EGER)?|DOUBLE|FLOAT|DECIMAL.*)$/.test(type)) return 'number';
  return /^(?:DATE|TIMESTAMP.*)$/.test(type) ? 'date' : 'text';
}

function chooseAxes(
  source: DataSource,
  columns: Column[],
  { type, x, y, aggregate }: ChartOptions,
): { x: Column; y: Column } {
  const named = (wanted: string) =>
    columns[
      columnIndex(
        source,
        columns.map(({ name }) => name),
        wanted,
      )
    ];
  const numbers = columns.filter(({ kind }) => kind === 'number');
  const wantedX = x === undefined ? undefined : named(x);
  const wantedY = y === undefined ? undefined : named(y);
  const firstX =
    type === 'scatter'
      ? numbers.find((column) => column !== wantedY)
      : columns.find((column) => column.kind !== 'number' && column !== wantedY);
  const across = wantedX ?? firstX ?? columns.find((column) => column !== wantedY) ?? columns[0];
  const up =
    wantedY ??
    numbers.find((column) => column !== across) ??
    (aggregate === 'count' && type !== 'scatter' ? across : undefined);
  if (across === undefined || up === undefined) throw invalid(source, 'has no column of numbers to draw.');
  if (up.kind !== 'number' && (aggregate !== 'count' || type === 'scatter'))
    throw invalid(source, `has something else than numbers in the column "${up.name}".`);
  return { x: across, y: up };
}

async function readPoints(
  database: Database,
  table: string,
  { x, y }: { x: Column; y: Column },
  { type, aggregate }: ChartOptions,
): Promise<{ points: Point[]; note: string | undefined }> {
  const isNumber = x.kind === 'number' && (type === 'line' || type === 'scatter');
  const across = isNumber
    ? `${identifier(x.name)}::DOUBLE`
    : x.kind === 'date'
      ? `strftime(${identifier(x.name)}::TIMESTAMP, '%Y-%m-%dT%H:%M:%S')`
      : `${identifier(x.name)}::VARCHAR`;
  const up = y.kind === 'number' ? `${identifier(y.name)}::DOUBLE` : '1::DOUBLE';
  const rows = `SELECT ${across} AS x, ${up} AS y, row_number() OVER () AS n FROM ${identifier(table)}`;
  const usable = `SELECT * FROM (${rows}) WHERE x IS NOT NULL AND y IS NOT NULL AND isfinite(y)${isNumber ? ' AND isfinite(x)' : ''}`;
  const function_ = aggregate === 'mean' ? 'avg' : aggregate;
  const sorted = isNumber || x.kind === 'date' ? 'x' : 'n';
  const grouped =
    type === 'scatter' ? usable : `SELECT x, ${function_}(y)::DOUBLE AS y, min(n) AS n FROM (${usable}) GROUP BY x`;
  await database.run(
    `CREATE TABLE "the points" AS SELECT x, y, row_number() OVER (ORDER BY ${sorted}) - 1 AS n FROM (${grouped})`,
  );
  const [counted] = await database.rows('SELECT count(*)::INT AS n FROM "the points"');
  const count = Number(counted?.['n'] ?? 0);
  if (type === 'bar' || type === 'pie')
    return await largest(
      database,
      count,
      type === 'bar' ? maxBars : maxSlices,
      type === 'pie' && (aggregate === 'sum' || aggregate === 'count'),
    );
  const step = Math.ceil(count / maxPoints);
  const points = await selectPoints(database, `WHERE n % ${step} = 0 ORDER BY n`);
  return {
    points,
    note:
      step > 1 ? `${points.length.toLocaleString('en')} of ${count.toLocaleString('en')} points are shown` : undefined,
  };
}

/** The largest groups in their order; the others are left out, or summed up where a sum means something. */
async function largest(
  database: Database,
  count: number,
  most: number,
  othersAdd: boolean,
): Promise<{ points: Point[]; note: string | undefined }> {
  if (count <= most) return { points: await selectPoints(database, 'ORDER BY n'), note: undefined };
  const note = `The ${most} largest of ${count.toLocaleString('en')} are shown`;
  await database.run(`CREATE TABLE "the largest" AS SELECT n FROM "the points" ORDER BY abs(y) DESC, n LIMIT ${most}`);
  const points = await selectPoints(database, 'WHERE n IN (SELECT n FROM "the largest") ORDER BY n');
  if (!othersAdd) return { points, note };
  const [rest] = await database.rows(
    'SELECT sum(y)::DOUBLE AS y FROM "the points" WHERE n NOT IN (SELECT n FROM "the largest")',
  );
  return {
    points: [...points, { x: `${(count - most).toLocaleString('en')} others`, y: Number(rest?.['y'] ?? 0) }],
    note,
  };
}

async function selectPoints(database: Database, rest: string): Promise<Point[]> {
  return (await database.rows(`SELECT x, y FROM "the points" ${rest}`)).map(({ x, y }) => ({
    x: x as string | number,
    y: Number(y),
  }));
}

const font = 'DejaVu Sans, sans-serif';

function specOf(
  points: Point[],
  { x, y }: { x: Column; y: Column },
  note: string | undefined,
  options: ChartOptions,
): TopLevelSpec {
  const { type, title, width, height, aggregate } = options;
  const upTitle =
    aggregate === 'sum' || type === 'scatter' ? y.name : aggregate === 'count' ? 'count' : `${aggregate} of ${y.name}`;
  const continuous = type === 'line' || type === 'scatter';
  const xType =
    continuous && x.kind === 'number' ? 'quantitative' : continuous && x.kind === 'date' ? 'temporal' : 'nominal';
  const longest = Math.max(...points.map((point) => String(point.x).length));
  const angle = xType === 'nominal' && longest * points.length * 8 > width - 120 ? -45 : 0;
  const across = {
    field: 'x',
    type: xType,
    title: shorten(x.name),
    sort: null,
    ...(xType === 'temporal' ? { scale: { type: 'utc' } } : {}),
    ...(xType === 'quantitative' ? { scale: { zero: false } } : {}),
    axis: { labelAngle: angle, labelLimit: 200, labelOverlap: xType !== 'nominal', grid: type === 'scatter' },
  };
  const up = {
    field: 'y',
    type: 'quantitative',
    title: shorten(upTitle),
    ...(type === 'scatter' ? { scale: { zero: false } } : {}),
  };
  const subtitle = note === undefined ? {} : { subtitle: note };
  const place = { anchor: 'start', limit: width - 20 };
  // A subtitle is drawn under a title only.
  const alone = note === undefined ? {} : { title: { text: note, fontSize: 12, fontWeight: 'normal', ...place } };
  const heading = title === undefined ? alone : { title: { text: title, ...subtitle, ...place } };
  const shared = {
    data: { values: points },
    width,
    height,
    autosize: { type: 'fit', contains: 'padding' },
    padding: 12,
    background: '#ffffff',
    ...heading,
    config: {
      font,
      title: { fontSize: 18, subtitleFontSize: 12, subtitleColor: '#57606a', subtitlePadding: 6, offset: 14 },
      axis: { labelFontSize: 12, titleFontSize: 13, titlePadding: 10, gridColor: '#e5e7eb' },
      legend: { labelFontSize: 12, titleFontSize: 13, labelLimit: 400, symbolLimit: 0 },
      view: { stroke: null },
    },
  };
  if (type === 'pie') {
    const total = points.reduce((sum, point) => sum + point.y, 0);
    const named = points.map((point) => ({
      ...point,
      x: `${shorten(String(point.x), 30)} (${((point.y / total) * 100).toFixed(1)} %)`,
    }));
    const color = { field: 'x', type: 'nominal', sort: null, title: shorten(x.name), scale: { scheme: 'tableau20' } };
    const encoding = { theta: { ...up, stack: true }, color, order: { field: 'n', type: 'quantitative' } };
    const values = named.map((point, n) => ({ ...point, n }));
    return {
      ...shared,
      data: { values },
      mark: { type: 'arc', stroke: '#ffffff', strokeWidth: 1 },
      encoding,
    } as unknown as TopLevelSpec;
  }
  const mark = {
    bar: { type: 'bar', color: '#3b6fd4' },
    line: { type: 'line', color: '#3b6fd4', strokeWidth: 2, point: points.length <= 60 },
    scatter: { type: 'circle', color: '#3b6fd4', size: 40, opacity: 0.6 },
  }[type];
  return { ...shared, mark, encoding: { x: across, y: up } } as unknown as TopLevelSpec;
}

function shorten(text: string, length = 60): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Loads nothing: a chart has its data in it. */
const noLoader = {
  load: () => Promise.reject(new Error('charts load nothing')),
  sanitize: () => Promise.reject(new Error('charts link nothing')),
  http: () => Promise.reject(new Error('charts load nothing')),
  file: () => Promise.reject(new Error('charts load nothing')),
};

async function render(spec: TopLevelSpec): Promise<string> {
  const [vega, { compile }] = await Promise.all([import('vega'), import('vega-lite')]);
  const silent = {
    level: () => silent,
    error: () => silent,
    warn: () => silent,
    info: () => silent,
    debug: () => silent,
  };
  const compiled: Spec = compile(spec, { logger: silent as never }).spec;
  const view = new vega.View(vega.parse(compiled), {
    renderer: 'none',
    loader: noLoader as never,
    logLevel: vega.None,
  });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}
