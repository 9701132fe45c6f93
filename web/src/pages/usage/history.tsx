import { Button, Group, SegmentedControl, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconChartBar, IconTable } from '@tabler/icons-react';
import type { UsageHistory } from '@millrun/sdk';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Link } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatBytes, formatDuration, formatNumber } from '../../parts/format.ts';
import { useToolName } from '../../parts/tools-query.ts';
import { useSeriesColors } from './colors.ts';
import { DaysTable } from './days-table.tsx';
import { ToolsTable } from './tools-table.tsx';
import { chartOf, formatDay, formatShare, successShare, totalsOf, type ChartData, type View } from './usage-data.ts';
import { historyQuery } from './usage-queries.ts';
import classes from './usage.module.css';

// uPlot is loaded with the chart.
const HistoryChart = lazy(() => import('./history-chart.tsx'));

const spans = [7, 30, 90] as const;
const views: { value: View; label: string }[] = [
  { value: 'outcome', label: 'By outcome' },
  { value: 'tool', label: 'By tool' },
  { value: 'bytes', label: 'Bytes' },
];

/** What the last days came to: totals, a chart with its numbers, and each tool. */
export function History() {
  const [days, setDays] = useState(30);
  const history = useQuery(historyQuery(days));
  return (
    <Stack gap="md" component="section" aria-labelledby="history-title">
      <Group justify="space-between" gap="sm">
        <Title order={2} size="h4" id="history-title">
          The last {days} days
        </Title>
        <SegmentedControl
          size="xs"
          aria-label="How many days"
          value={String(days)}
          onChange={(value) => setDays(Number(value))}
          data={spans.map((span) => ({ value: String(span), label: `${span} days` }))}
        />
      </Group>
      {history.data === undefined && history.isError ? (
        <ErrorState error={history.error} onRetry={() => void history.refetch()} />
      ) : (
        <Content history={history.data} />
      )}
    </Stack>
  );
}

function Content({ history }: { history: UsageHistory | undefined }) {
  if (history?.data.length === 0)
    return (
      <EmptyState
        icon={<IconChartBar />}
        title="Nothing has run in these days"
        action={
          <Button component={Link} href="/tools">
            Choose a tool
          </Button>
        }
      >
        Each run is counted on the day it ends, by tool and outcome. Deleting a run takes nothing away.
      </EmptyState>
    );
  return (
    <>
      <TotalsList history={history} />
      <Chart history={history} />
      {history !== undefined && <ToolsTable rows={history.data} />}
    </>
  );
}

function TotalsList({ history }: { history: UsageHistory | undefined }) {
  const totals = totalsOf(history?.data ?? []);
  const stats = [
    ['Runs', formatNumber(totals.runs)],
    ['Succeeded', formatShare(successShare(totals))],
    ['Bytes in', formatBytes(totals.bytesIn)],
    ['Bytes out', formatBytes(totals.bytesOut)],
    ['Processing time', formatDuration(totals.processingMs)],
  ] as const;
  return (
    <dl className={classes['stats']}>
      {stats.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{history === undefined ? <Skeleton height={20} width="5rem" my={4} /> : value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Chart({ history }: { history: UsageHistory | undefined }) {
  const [view, setView] = useState<View>('outcome');
  const [asTable, setAsTable] = useState(false);
  const toolName = useToolName();
  const data = useMemo(
    () => (history === undefined ? undefined : chartOf(history, view, toolName)),
    [history, view, toolName],
  );
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="sm">
        <SegmentedControl
          size="xs"
          aria-label="What the chart shows"
          value={view}
          onChange={(value) => setView(value as View)}
          data={views}
        />
        <Button
          size="xs"
          variant={asTable ? 'light' : 'default'}
          aria-pressed={asTable}
          leftSection={<IconTable size={14} aria-hidden />}
          onClick={() => setAsTable(!asTable)}
        >
          As a table
        </Button>
      </Group>
      {data === undefined && <Skeleton className={classes['whole'] ?? ''} />}
      {data !== undefined && (asTable ? <DaysTable data={data} /> : <Figure data={data} />)}
    </Stack>
  );
}

function Figure({ data }: { data: ChartData }) {
  const colorOf = useSeriesColors();
  const format = data.view === 'bytes' ? formatBytes : formatNumber;
  const [first = '', last = ''] = [data.days[0], data.days.at(-1)];
  const what = data.view === 'bytes' ? 'Bytes a day' : `Runs a day by ${data.view}`;
  return (
    <figure className={classes['figure']}>
      <div role="img" aria-label={`${what}, ${formatDay(first)} to ${formatDay(last)}`} className={classes['place']}>
        <Suspense fallback={<Skeleton className={classes['place'] ?? ''} />}>
          <HistoryChart data={data} />
        </Suspense>
      </div>
      <figcaption>
        <ul className={classes['legend']} aria-label={what}>
          {data.series.map(({ key, label, total }) => (
            <li key={key}>
              <span className={classes['swatch']} style={{ background: colorOf(key) }} aria-hidden />
              <Text size="sm" component="span" truncate>
                {label}
              </Text>
              <Text size="sm" component="span" c="dimmed">
                {format(total)}
              </Text>
            </li>
          ))}
        </ul>
      </figcaption>
    </figure>
  );
}
