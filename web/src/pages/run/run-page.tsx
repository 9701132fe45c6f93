import { Button, Group, Paper, Skeleton, Stack, Text, VisuallyHidden } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconActivity, IconAdjustments, IconFileOff } from '@tabler/icons-react';
import type { Run } from '@millrun/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { ApiError } from '../../api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { runKey, useLiveRun, type LiveRun } from '../../parts/live-run.ts';
import { RunOutputs } from '../../parts/outputs/run-outputs.tsx';
import { Page } from '../../parts/page.tsx';
import { RunActions } from '../../parts/run-actions.tsx';
import { runName } from '../../parts/run-name.ts';
import { isActive, seen, type SeenRun } from '../../parts/run-state.ts';
import { RunStatus } from '../../parts/run-status.tsx';
import { useToolName } from '../../parts/tools-query.ts';
import { Facts } from './facts.tsx';
import { Failure } from './failure.tsx';
import { Inputs } from './inputs.tsx';
import { Json } from './json.tsx';
import { sayState } from './say-state.ts';
import { Settings } from './settings.tsx';
import { Times } from './times.tsx';
import { UnderWay } from './under-way.tsx';
import classes from './run.module.css';

/** One run: what it is at, what went in, what came out, and what can be done with it. */
export default function RunPage({ id }: { id: string }) {
  const live = useLiveRun(id);
  const { data, error, refetch, dataUpdatedAt } = live.query;
  if (error instanceof ApiError && error.status === 404) return <NoSuchRun />;
  if (data !== undefined) return <Shown run={seen(data, dataUpdatedAt)} live={live} />;
  return (
    <Page title="Run">
      {error === null ? <Waiting /> : <ErrorState error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

function Shown({ run, live }: { run: SeenRun; live: LiveRun }) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const toolName = useToolName();
  const name = runName(run, toolName);
  const onDeleted = () => {
    navigate('/runs', { replace: true });
    queries.removeQueries({ queryKey: runKey(run.id) });
    notifications.show({ color: 'mill', title: 'The run was deleted', message: name });
  };
  return (
    <Page
      title={toolName(run.tool)}
      lead={
        <Group gap="xs" component="span" mt={4}>
          <RunStatus run={run} size="lg" />
          <VisuallyHidden aria-live="polite" component="span">
            {sayState(run)}
          </VisuallyHidden>
        </Group>
      }
      actions={
        <>
          {!isActive(run.status) && (
            <Button
              component={Link}
              href={`/tools/${run.tool}?from=${run.id}`}
              variant="default"
              leftSection={<IconAdjustments size={16} aria-hidden />}
            >
              Same settings, other files
            </Button>
          )}
          <RunActions
            run={run}
            name={name}
            onChange={() => live.query.refetch()}
            onDeleted={onDeleted}
            onRetried={(id) => navigate(`/runs/${id}`)}
          />
        </>
      }
    >
      <div className={classes['columns']}>
        <Stack gap="xl" className={classes['main'] ?? ''}>
          <Outcome run={run} connected={live.connected} />
          <Inputs inputs={run.inputs} />
          <Settings settings={run.settings} />
          <Json run={live.query.data ?? run} />
        </Stack>
        <Stack gap="xl">
          <Times run={run} />
          <Facts run={run} toolName={toolName(run.tool)} />
        </Stack>
      </div>
    </Page>
  );
}

function Outcome({ run, connected }: { run: Run; connected: boolean }) {
  switch (run.status) {
    case 'queued':
    case 'processing':
      return <UnderWay run={run} connected={connected} />;
    case 'failed':
      return <Failure run={run} />;
    case 'done':
      return (run.outputs ?? []).length > 0 ? <RunOutputs run={run} /> : <NotKept />;
  }
}

function NotKept() {
  return (
    <Paper withBorder p="xl">
      <Stack align="center" gap="xs" ta="center">
        <IconFileOff size={28} stroke={1.5} aria-hidden />
        <Text c="dimmed">The files of this run are no longer kept. Its record stays for 30 days.</Text>
      </Stack>
    </Paper>
  );
}

function NoSuchRun() {
  return (
    <Page title="No such run">
      <EmptyState
        icon={<IconActivity size={24} />}
        title="There is no run at this address"
        action={
          <Button component={Link} href="/runs">
            All runs
          </Button>
        }
      >
        It was deleted, its record is older than 30 days, or it belongs to another account.
      </EmptyState>
    </Page>
  );
}

/** As high as the page will be. */
function Waiting() {
  return (
    <div className={classes['columns']} aria-hidden>
      <Stack gap="xl">
        <Skeleton height="20rem" />
        <Skeleton height="9rem" />
      </Stack>
      <Stack gap="xl">
        <Skeleton height="11rem" />
        <Skeleton height="16rem" />
      </Stack>
    </div>
  );
}
