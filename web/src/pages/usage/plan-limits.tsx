import { Paper, Skeleton, Stack, Text, Title } from '@mantine/core';
import type { Usage } from '@millrun/sdk';
import { formatBytes, formatNumber } from '../../parts/format.ts';
import classes from './usage.module.css';

/** Everything a plan limits, in words. */
export function PlanLimits({ usage }: { usage: Usage | undefined }) {
  return (
    <Stack gap="sm" component="section" aria-labelledby="plan-title">
      <div>
        <Title order={2} size="h4" id="plan-title">
          {usage === undefined ? 'What the plan includes' : `What the plan “${usage.plan}” includes`}
        </Title>
        <Text size="sm" c="dimmed">
          A tool may take fewer files than the plan. An administrator of this server sets plans.
        </Text>
      </div>
      <Paper withBorder p="md">
        <dl className={classes['limits']}>
          {limitsOf(usage).map(([name, words]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{words ?? <Skeleton height={14} my={5} width="60%" />}</dd>
            </div>
          ))}
        </dl>
      </Paper>
    </Stack>
  );
}

/** The name of each limit and what it allows; undefined while that is on its way. */
function limitsOf(usage: Usage | undefined): [name: string, words: string | undefined][] {
  const words = (
    limit: (of: Usage) => number,
    some: (value: string) => string,
    none: string,
    format = formatNumber,
  ) => {
    if (usage === undefined) return undefined;
    const value = limit(usage);
    return value === 0 ? none : some(format(value));
  };
  const upTo = (value: string) => `Up to ${value}`;
  return [
    [
      'Runs',
      words(
        (of) => of.runs_per_day,
        (value) => `${value} a day (UTC)`,
        'As many as you like',
      ),
    ],
    [
      'API requests',
      words(
        (of) => of.api_rate_limit,
        (value) => `${value} a minute`,
        'As many as you like',
      ),
    ],
    [
      'At the same time',
      words(
        (of) => of.limits.concurrent_runs,
        (value) => (value === '1' ? '1 run' : `${value} runs`),
        'As many runs as the server can',
      ),
    ],
    ['Size of a file', words((of) => of.limits.max_file_bytes, upTo, 'No limit', formatBytes)],
    ['Files of a run', words((of) => of.limits.max_files, upTo, 'No limit')],
    ['All files of a run', words((of) => of.limits.max_run_bytes, upTo, 'No limit', formatBytes)],
  ];
}
