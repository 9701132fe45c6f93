import 'uplot/dist/uPlot.min.css';
import { Paper, Text, useComputedColorScheme, useMantineTheme } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { formatBytes, formatNumber } from '../../parts/format.ts';
import { useSeriesColors } from './colors.ts';
import classes from './history-chart.module.css';
import { formatDay, type ChartData } from './usage-data.ts';

interface Pointed {
  index: number;
  /** Of the day's middle, in pixels from the left. */
  left: number;
}

/** Bars by day: stacked, or two beside each other for bytes. Fills its parent, whatever size that gets. */
export default function HistoryChart({ data }: { data: ChartData }) {
  const place = useRef<HTMLDivElement>(null);
  const colorOf = useSeriesColors();
  const scheme = useComputedColorScheme('light');
  const { fontFamily, colors } = useMantineTheme();
  const [pointed, setPointed] = useState<Pointed>();
  useEffect(() => {
    const parent = place.current;
    if (parent === null) return undefined;
    const text = scheme === 'dark' ? colors.dark[2] : colors.gray[7];
    const lines = scheme === 'dark' ? colors.dark[5] : colors.gray[2];
    const look = { font: `12px ${fontFamily}`, text, lines, colorOf };
    const onPoint = (plot: uPlot) => {
      const { idx, left } = plot.cursor;
      if (idx === null || idx === undefined || left === undefined || left < 0) return setPointed(undefined);
      return setPointed({ index: idx, left: plot.over.offsetLeft + plot.valToPos(idx, 'x') });
    };
    const plot = new uPlot({ ...optionsFor(data, look, onPoint), ...sizeOf(parent) }, columnsOf(data), parent);
    const watching = new ResizeObserver(() => plot.setSize(sizeOf(parent)));
    watching.observe(parent);
    return () => {
      watching.disconnect();
      plot.destroy();
      setPointed(undefined);
    };
  }, [data, scheme, colors, fontFamily, colorOf]);
  return (
    <div ref={place} className={classes['chart']}>
      {pointed !== undefined && <Bubble data={data} pointed={pointed} width={place.current?.clientWidth ?? 0} />}
    </div>
  );
}

function sizeOf(parent: HTMLElement): { width: number; height: number } {
  return { width: parent.clientWidth, height: parent.clientHeight };
}

/** What a stack draws: each series on top of those before it, so that the first is drawn last. */
function columnsOf({ view, days, series }: ChartData): uPlot.AlignedData {
  const places = days.map((_, index) => index);
  if (view === 'bytes') return [places, ...series.map(({ values }) => values)];
  const tops: number[][] = [];
  for (const { values } of series) {
    const below = tops.at(-1);
    tops.push(values.map((value, index) => value + (below?.[index] ?? 0)));
  }
  return [places, ...tops.toReversed()];
}

interface Look {
  font: string;
  text: string;
  lines: string;
  colorOf: (key: string) => string;
}

/** Width of a character of a label at most, in pixels. */
const labelCharacter = 7;
/** 1, 2, 5, 10, … : whole runs, and bytes in the units people read. */
const steps = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

function optionsFor(
  data: ChartData,
  look: Look,
  onPoint: (plot: uPlot) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  const { view, days, series } = data;
  const format = view === 'bytes' ? formatBytes : formatNumber;
  const drawn = view === 'bytes' ? series : series.toReversed();
  const side = (index: number) => (view !== 'bytes' ? 0 : index === 0 ? -1 : 1);
  const axis = { stroke: look.text, font: look.font };
  return {
    // On the right there is room for half of the last day's label.
    padding: [10, 18, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_plot, _least, most) => [0, Math.max(view === 'bytes' ? 1000 : 4, most) * 1.05] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        space: 56,
        incrs: [1, 2, 3, 5, 7, 10, 15, 30],
        grid: { show: false },
        ticks: { show: false },
        values: (_plot, splits) => splits.map((index) => formatSplit(days[index])),
      },
      {
        ...axis,
        size: (_plot, labels) => Math.max(0, ...(labels ?? []).map(({ length }) => length)) * labelCharacter + 16,
        space: 44,
        incrs: steps,
        grid: { stroke: look.lines, width: 1 },
        ticks: { show: false },
        values: (_plot, splits) => splits.map((value) => format(value)),
      },
    ],
    series: [
      {},
      ...drawn.map(({ key, label }, index) => ({
        label,
        fill: look.colorOf(key),
        width: 0,
        points: { show: false },
        paths: bars(side(index)),
      })),
    ],
    hooks: { setCursor: [onPoint] },
  };
}

function formatSplit(day: string | undefined): string {
  return day === undefined ? '' : formatDay(day);
}

function bars(align: -1 | 0 | 1): uPlot.Series.PathBuilder {
  const make = uPlot.paths.bars?.({ size: align === 0 ? [0.72, 36] : [0.36, 18], align });
  if (make === undefined) throw new Error('uPlot has no bars');
  return make;
}

/** The numbers of the day that is pointed at. */
function Bubble({ data, pointed, width }: { data: ChartData; pointed: Pointed; width: number }) {
  const colorOf = useSeriesColors();
  const format = data.view === 'bytes' ? formatBytes : formatNumber;
  const day = data.days[pointed.index];
  if (day === undefined) return null;
  const shown = data.series.filter(({ values }) => (values[pointed.index] ?? 0) > 0);
  const onLeft = pointed.left > width / 2;
  return (
    <Paper
      withBorder
      shadow="sm"
      px="sm"
      py={6}
      className={classes['bubble'] ?? ''}
      style={onLeft ? { right: width - pointed.left + 12 } : { left: pointed.left + 12 }}
      aria-hidden
    >
      <Text size="sm" fw={600}>
        {formatDay(day)}
      </Text>
      {shown.length === 0 && (
        <Text size="sm" c="dimmed">
          Nothing
        </Text>
      )}
      {shown.map(({ key, label, values }) => (
        <div key={key} className={classes['line']}>
          <span className={classes['dot']} style={{ background: colorOf(key) }} />
          <span className={classes['name']}>{label}</span>
          <span className={classes['number']}>{format(values[pointed.index] ?? 0)}</span>
        </div>
      ))}
    </Paper>
  );
}
