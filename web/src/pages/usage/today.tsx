import { Paper, Progress, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import type { Usage } from '@millrun/sdk';
import type { ReactNode } from 'react';
import { formatBytes, formatNumber, formatRelative } from '../../parts/format.ts';
import { useNow } from '../../parts/use-now.ts';
import classes from './usage.module.css';

/** How much of today and of this minute is used; keeps its place while that is on its way. */
export function Today({ usage }: { usage: Usage | undefined }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }} spacing="md">
      {usage === undefined ? ['Runs today', 'API requests this minute', 'Bytes today'].map(waiting) : meters(usage)}
    </SimpleGrid>
  );
}

function waiting(title: string): ReactNode {
  return (
    <Meter key={title} title={title} value={<Skeleton height={24} width="6rem" my={4} />}>
      <Skeleton height={10} my={5} component="span" display="block" />
    </Meter>
  );
}

function meters(usage: Usage): ReactNode {
  const { runs_today, runs_per_day, runs_remaining, requests_this_minute, api_rate_limit } = usage;
  return (
    <>
      <Meter
        title="Runs today"
        value={<Of value={runs_today} limit={runs_per_day} />}
        share={runs_remaining === null ? undefined : runs_today / runs_per_day}
      >
        {runs_remaining === null ? (
          'The plan has no daily limit.'
        ) : (
          <>
            {formatNumber(runs_remaining)} left. <Reset at={usage.resets_at} />
          </>
        )}
      </Meter>
      <Meter
        title="API requests this minute"
        value={requests_this_minute === null ? 'No limit' : <Of value={requests_this_minute} limit={api_rate_limit} />}
        share={requests_this_minute === null ? undefined : requests_this_minute / api_rate_limit}
      >
        {requests_this_minute === null
          ? 'The plan does not limit them, so they are not counted.'
          : 'Of all tokens together. Looking at this page does not count.'}
      </Meter>
      <Meter
        title="Bytes today"
        value={
          <>
            {formatBytes(usage.bytes_in_today)} <small>in</small> {formatBytes(usage.bytes_out_today)}{' '}
            <small>out</small>
          </>
        }
      >
        Inputs and outputs of the runs that ended today (UTC).
      </Meter>
    </>
  );
}

interface MeterProps {
  title: string;
  value: ReactNode;
  /** Of the limit, 0 to 1; without it there is no bar, but its place. */
  share?: number | undefined;
  children: ReactNode;
}

function Meter({ title, value, share, children }: MeterProps) {
  return (
    <Paper withBorder p="md" className={classes['meter'] ?? ''}>
      <Title order={2} size="sm" fw={500} c="dimmed">
        {title}
      </Title>
      <div className={classes['value']}>{value}</div>
      <div className={classes['bar']}>
        {share !== undefined && (
          <Progress.Root size={6}>
            <Progress.Section
              value={Math.min(1, share) * 100}
              color={share >= 1 ? 'red' : share >= 0.8 ? 'yellow' : 'mill'}
              aria-label={title}
            />
          </Progress.Root>
        )}
      </div>
      <Text size="sm" c="dimmed" component="div">
        {children}
      </Text>
    </Paper>
  );
}

function Of({ value, limit }: { value: number; limit: number }) {
  if (limit === 0) return formatNumber(value);
  return (
    <>
      {formatNumber(value)} <small>of {formatNumber(limit)}</small>
    </>
  );
}

function Reset({ at }: { at: string }) {
  const now = useNow(true);
  return <>The count starts again at midnight UTC, {formatRelative(at, now)}.</>;
}
