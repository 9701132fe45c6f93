import type { UsageHistory, UsageOfDay } from '@millrun/sdk';

export type View = 'outcome' | 'tool' | 'bytes';

export interface Series {
  /** Says which colour: an outcome, a direction, or the rank of a tool. */
  key: string;
  label: string;
  /** One a day. */
  values: number[];
  total: number;
}

export interface ChartData {
  view: View;
  /** UTC: `2026-11-21`; every day of the span. */
  days: string[];
  series: Series[];
}

/** Tools that have a colour of their own; the rest is one. */
export const mostTools = 6;
const dayMs = 86_400_000;

export function daysBetween(from: string, to: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += dayMs) days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

export function runsOf({ done, failed, cancelled }: Pick<UsageOfDay, 'done' | 'failed' | 'cancelled'>): number {
  return done + failed + cancelled;
}

/** What the chart shows, with zeros for days on which nothing ended. */
export function chartOf(history: UsageHistory, view: View, toolName: (slug: string) => string): ChartData {
  const days = daysBetween(history.from, history.to);
  const place = new Map(days.map((day, index) => [day, index]));
  const series = (key: string, label: string, value: (row: UsageOfDay) => number): Series => {
    const values = days.map(() => 0);
    for (const row of history.data) {
      const index = place.get(row.day);
      if (index !== undefined) values[index] = (values[index] ?? 0) + value(row);
    }
    return { key, label, values, total: values.reduce((sum, each) => sum + each, 0) };
  };
  if (view === 'tool') return { view, days, series: toolSeries(history, toolName, series) };
  if (view === 'bytes') {
    const inAndOut = [series('in', 'In', (row) => row.bytes_in), series('out', 'Out', (row) => row.bytes_out)];
    return { view, days, series: inAndOut };
  }
  const outcomes = [
    series('done', 'Done', (row) => row.done),
    series('failed', 'Failed', (row) => row.failed),
    series('cancelled', 'Cancelled', (row) => row.cancelled),
  ];
  return { view, days, series: outcomes };
}

function toolSeries(
  { data }: UsageHistory,
  toolName: (slug: string) => string,
  series: (key: string, label: string, value: (row: UsageOfDay) => number) => Series,
): Series[] {
  const tools = byTool(data).map(({ tool }) => tool);
  // One more is no reason to hide its name.
  const named = tools.length <= mostTools + 1 ? tools : tools.slice(0, mostTools);
  const shown = named.map((tool, rank) =>
    series(`tool-${rank}`, toolName(tool), (row) => (row.tool === tool ? runsOf(row) : 0)),
  );
  const others = tools.length - named.length;
  if (others === 0) return shown;
  return [...shown, series('others', `${others} others`, (row) => (named.includes(row.tool) ? 0 : runsOf(row)))];
}

export interface Totals {
  runs: number;
  done: number;
  failed: number;
  bytesIn: number;
  bytesOut: number;
  processingMs: number;
}

export function totalsOf(rows: readonly UsageOfDay[]): Totals {
  const totals: Totals = { runs: 0, done: 0, failed: 0, bytesIn: 0, bytesOut: 0, processingMs: 0 };
  for (const row of rows) {
    totals.runs += runsOf(row);
    totals.done += row.done;
    totals.failed += row.failed;
    totals.bytesIn += row.bytes_in;
    totals.bytesOut += row.bytes_out;
    totals.processingMs += row.processing_ms;
  }
  return totals;
}

/** Of the runs that nobody cancelled, the share that was done; undefined when there are none. */
export function successShare({ done, failed }: Pick<Totals, 'done' | 'failed'>): number | undefined {
  return done + failed === 0 ? undefined : done / (done + failed);
}

export interface ToolTotals extends Totals {
  tool: string;
}

/** Each tool's totals, the one with the most runs first. */
export function byTool(rows: readonly UsageOfDay[]): ToolTotals[] {
  const groups = Map.groupBy(rows, ({ tool }) => tool);
  return [...groups]
    .map(([tool, of]) => ({ tool, ...totalsOf(of) }))
    .toSorted((a, b) => b.runs - a.runs || a.tool.localeCompare(b.tool));
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 1 });

/** `98.4 %`. Never rounded up to all when one has failed. */
export function formatShare(share: number | undefined): string {
  if (share === undefined) return '–';
  return percent.format(share < 1 ? Math.min(share, 0.999) : 1);
}

const dayFormat = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** `21 Nov`: the UTC day, wherever the reader is. */
export function formatDay(day: string): string {
  return dayFormat.format(new Date(day));
}
