import { Alert, Anchor, Button, Group, Paper, Progress, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconPlayerStop, IconX } from '@tabler/icons-react';
import type { CancelReply, Run } from '@millrun/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { ApiError, apiPrefix, call } from '../../api.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatBytes, formatDateTime, formatDuration, formatNumber } from '../../parts/format.ts';
import { runKey, type LiveRun } from '../../parts/live-run.ts';
import { RunOutputs } from '../../parts/outputs/run-outputs.tsx';
import { meaningOf } from '../../parts/run-errors.ts';
import type { Phase, SubmissionState } from './use-submission.ts';
import classes from './tool.module.css';

interface RunPanelProps {
  submission: SubmissionState;
  live: LiveRun;
  /** Errors of the reply that no field of the form shows. */
  loose: readonly string[];
  onTryAgain: () => void;
}

/** What became of the press of the button: upload, queue, progress, and the result or the reason why there is none. */
export function RunPanel({ submission, live, loose, onTryAgain }: RunPanelProps) {
  const { phase } = submission;
  return (
    <div>
      <VisuallyHidden aria-live="polite">{sayPhase(phase, live)}</VisuallyHidden>
      {phase.kind === 'uploading' && <Uploading phase={phase} onAbort={submission.abort} />}
      {phase.kind === 'refused' && <Refused phase={phase} loose={loose} onResend={submission.resend} />}
      {phase.kind === 'accepted' && (
        <Accepted runId={phase.runId} live={live} originals={phase.order.files} onTryAgain={onTryAgain} />
      )}
    </div>
  );
}

/** For those who cannot see the bar: each stage, and progress in quarters. */
function sayPhase(phase: Phase, { query: { data: run } }: LiveRun): string {
  if (phase.kind === 'uploading') return 'Uploading';
  if (phase.kind !== 'accepted' || run === undefined) return '';
  switch (run.status) {
    case 'queued':
      return 'In the queue';
    case 'processing':
      return `Processing, ${Math.floor((run.progress ?? 0) / 25) * 25} per cent`;
    case 'done':
      return `Done, ${run.outputs?.length ?? 0} results`;
    case 'failed':
      return `Failed: ${run.error?.message ?? ''}`;
  }
}

interface StatusCardProps {
  title: string;
  /** 0 to 100; undefined where nobody knows how far it is. */
  percent: number | undefined;
  children: ReactNode;
  action: ReactNode;
}

/** The same card from the first byte to the last step: only its words and its bar change. */
function StatusCard({ title, percent, children, action }: StatusCardProps) {
  return (
    <Paper withBorder p="md" className={classes['status'] ?? ''}>
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap">
          <Title order={2} size="h4">
            {title}
          </Title>
          {action}
        </Group>
        <Progress
          value={percent ?? 100}
          animated={percent === undefined}
          striped={percent === undefined}
          transitionDuration={200}
          aria-label={title}
          {...(percent === undefined ? { 'aria-valuetext': title } : {})}
        />
        <Text size="sm" c="dimmed" component="div" style={{ fontVariantNumeric: 'tabular-nums' }}>
          {children}
        </Text>
      </Stack>
    </Paper>
  );
}

function Uploading({ phase, onAbort }: { phase: Extract<Phase, { kind: 'uploading' }>; onAbort: () => void }) {
  const { sentBytes, totalBytes } = phase.progress;
  const percent = totalBytes > 0 ? Math.floor((sentBytes / totalBytes) * 100) : 0;
  return (
    <StatusCard
      title="Uploading"
      percent={percent}
      action={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconX size={14} aria-hidden />}
          loading={phase.cancelling}
          onClick={onAbort}
        >
          Cancel
        </Button>
      }
    >
      {sayUpload(phase, percent)}
    </StatusCard>
  );
}

function sayUpload({ progress, bytesPerSecond }: Extract<Phase, { kind: 'uploading' }>, percent: number): string {
  const { sentBytes, totalBytes } = progress;
  if (totalBytes === 0) return 'Connecting';
  if (sentBytes === totalBytes) return `${formatBytes(totalBytes)} sent, waiting for the answer`;
  const parts = [`${percent} %`, `${formatBytes(sentBytes)} of ${formatBytes(totalBytes)}`];
  if (bytesPerSecond !== undefined && bytesPerSecond > 0) {
    parts.push(`${formatBytes(Math.round(bytesPerSecond))} a second`);
    parts.push(`${formatDuration(Math.max(1000, ((totalBytes - sentBytes) / bytesPerSecond) * 1000))} left`);
  }
  return parts.join(' · ');
}

interface RefusedProps {
  phase: Extract<Phase, { kind: 'refused' }>;
  loose: readonly string[];
  onResend: () => void;
}

function Refused({ phase: { error, unreadable, order }, loose, onResend }: RefusedProps) {
  const lost = error.status === 0;
  const passes = lost || error.status === 409 || error.status === 429 || error.status >= 500;
  return (
    <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={titleOf(error, unreadable.length)} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{sayRefusal(error, unreadable.length)}</Text>
        {loose.map((text) => (
          <Text size="sm" key={text}>
            {text}
          </Text>
        ))}
        {error.body.request_id !== undefined && error.status >= 500 && (
          <Text size="xs">Request {error.body.request_id}</Text>
        )}
        {passes && unreadable.length === 0 && (
          <Button size="xs" variant="default" onClick={onResend}>
            Try again
          </Button>
        )}
        {lost && unreadable.length === 0 && (
          <Text size="xs">
            Trying again cannot run {order.files.length > 1 ? 'them' : 'it'} twice: the service recognises the request.
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

function titleOf(error: ApiError, unreadable: number): string {
  if (unreadable > 0) return 'Files have changed';
  if (error.status === 0) return 'The connection was lost';
  if (error.status === 422 || error.status === 400) return 'Something needs to be changed';
  if (error.status === 413) return 'This is too large';
  if (error.status === 429) return 'Not just now';
  return 'The run was not accepted';
}

function sayRefusal(error: ApiError, unreadable: number): string {
  if (unreadable > 0)
    return 'Some files were changed, moved or deleted after they were added here. Remove them and add them again.';
  if (error.status === 0) return 'The files may not have arrived. Check the connection and try again.';
  if (error.status === 422 && error.body.errors !== undefined) return 'It is marked at the files and settings.';
  return error.message;
}

interface AcceptedProps {
  runId: string;
  live: LiveRun;
  originals: readonly File[];
  onTryAgain: () => void;
}

function Accepted({ runId, live, originals, onTryAgain }: AcceptedProps) {
  const { data: run, error, refetch } = live.query;
  if (run === undefined)
    return error === null ? <Starting /> : <ErrorState error={error} onRetry={() => void refetch()} />;
  switch (run.status) {
    case 'queued':
    case 'processing':
      return <Active run={run} connected={live.connected} />;
    case 'failed':
      return <Failed run={run} onTryAgain={onTryAgain} />;
    case 'done':
      return (
        <Stack gap="sm">
          <RunOutputs key={runId} run={run} originals={originals} />
          <Done run={run} />
        </Stack>
      );
  }
}

function Starting() {
  return (
    <StatusCard title="In the queue" percent={undefined} action={null}>
      Accepted
    </StatusCard>
  );
}

function Active({ run, connected }: { run: Run; connected: boolean }) {
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: runKey(run.id) });
  const cancel = useMutation({
    mutationFn: () => call<CancelReply>('POST', `${apiPrefix}/runs/${run.id}/cancel`),
    // A run that ended meanwhile cannot be cancelled, and shows its end.
    onSettled: refresh,
  });
  const refused = cancel.error instanceof ApiError && cancel.error.status !== 409 ? cancel.error.message : undefined;
  const queued = run.status === 'queued';
  return (
    <StatusCard
      title={queued ? 'In the queue' : 'Processing'}
      percent={queued || run.progress === undefined || run.progress === 0 ? undefined : run.progress}
      action={
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlayerStop size={14} aria-hidden />}
          loading={cancel.isPending}
          disabled={!run.actions.cancel}
          onClick={() => cancel.mutate()}
        >
          Cancel
        </Button>
      }
    >
      {refused !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {refused}
        </Text>
      )}
      {connected ? sayActive(run) : 'The connection was lost; connecting again.'} You may leave this page: the run goes
      on.{' '}
      <Anchor component={Link} href={`/runs/${run.id}`} size="sm" underline="always">
        Open the run
      </Anchor>
    </StatusCard>
  );
}

function sayActive({ status, progress, queue_position: place }: Run): string {
  if (status === 'processing') return progress === undefined || progress === 0 ? 'Started.' : `${progress} %.`;
  if (place === undefined) return 'Waiting for a free worker.';
  return place === 1 ? 'It starts next.' : `Number ${formatNumber(place)} of those that wait.`;
}

function Failed({ run, onTryAgain }: { run: Run; onTryAgain: () => void }) {
  const { code = 'internal', message = '', file } = run.error ?? {};
  const { title, meaning, worthAnotherTry } = meaningOf(code);
  const cancelled = code === 'cancelled';
  return (
    <Alert
      color={cancelled ? 'gray' : 'red'}
      icon={cancelled ? <IconPlayerStop aria-hidden /> : <IconAlertTriangle aria-hidden />}
      title={title}
      role={cancelled ? undefined : 'alert'}
    >
      <Stack gap="xs" align="flex-start">
        {!cancelled && (
          <Text size="sm" fw={500}>
            {file === undefined || message.includes(file) ? message : `${file}: ${message}`}
          </Text>
        )}
        <Text size="sm">{meaning}</Text>
        <Group gap="md">
          {worthAnotherTry && (
            <Button size="xs" variant="default" onClick={onTryAgain}>
              Try again
            </Button>
          )}
          <Anchor component={Link} href={`/runs/${run.id}`} size="sm" underline="always">
            Open the run
          </Anchor>
        </Group>
      </Stack>
    </Alert>
  );
}

function Done({ run }: { run: Run }) {
  return (
    <Group gap="xs" c="dimmed" wrap="nowrap" align="flex-start">
      <IconCircleCheck size={16} aria-hidden style={{ flex: 'none', marginTop: 3 }} />
      <Text size="sm">
        {run.started_at !== null && run.finished_at !== null && `Done in ${sayTime(run.started_at, run.finished_at)}. `}
        {run.expires_at !== null && `Kept until ${formatDateTime(run.expires_at)}. `}
        <Anchor component={Link} href={`/runs/${run.id}`} size="sm" underline="always">
          Open the run
        </Anchor>
      </Text>
    </Group>
  );
}

function sayTime(from: string, to: string): string {
  return formatDuration(new Date(to).getTime() - new Date(from).getTime());
}
