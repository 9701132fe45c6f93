import { Anchor, Paper, Skeleton, Table, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { IconArrowNarrowRight } from '@tabler/icons-react';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef } from 'react';
import { Link } from 'wouter';
import { FileName } from '../../parts/file-name.tsx';
import { formatBytes, formatDuration } from '../../parts/format.ts';
import { RunActions } from '../../parts/run-actions.tsx';
import { meaningOf } from '../../parts/run-errors.ts';
import { isActive, sizesOf, timesOf, type SeenRun } from '../../parts/run-state.ts';
import { RunProgress, RunStatus } from '../../parts/run-status.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useNow } from '../../parts/use-now.ts';
import { forgetRun, refreshLists, refreshRun } from './run-list.ts';
import { runName } from '../../parts/run-name.ts';
import classes from './run-rows.module.css';

interface RunRowsProps {
  runs: readonly SeenRun[];
  toolName: (slug: string) => string;
  /** Told which runs are on the screen, by id. */
  onScreen: (ids: ReadonlySet<string>) => void;
  onGone: (id: string) => void;
  /** Something to tell those who do not see it. */
  onNews: (text: string) => void;
}

/** Runs below each other: a table where there is room for one, cards elsewhere. */
export function RunRows({ runs, toolName, onScreen, onGone, onNews }: RunRowsProps) {
  const watch = useOnScreen(onScreen);
  const wide = useWide();
  const row = (run: SeenRun) => ({
    run,
    watch,
    name: runName(run, toolName),
    toolName: toolName(run.tool),
    onGone: () => onGone(run.id),
    onNews,
  });
  if (!wide)
    return (
      <ul className={classes['cards']} aria-label="Runs">
        {runs.map((run) => (
          <RunCard key={run.id} {...row(run)} />
        ))}
      </ul>
    );
  return (
    <Paper withBorder className={classes['table'] ?? ''}>
      <Table layout="fixed" verticalSpacing={0} horizontalSpacing="md" aria-label="Runs">
        <TableHead />
        <Table.Tbody>
          {runs.map((run) => (
            <RunTableRow key={run.id} {...row(run)} />
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

function TableHead() {
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>Run</Table.Th>
        <Table.Th w={170}>State</Table.Th>
        <Table.Th w={150}>Submitted</Table.Th>
        <Table.Th w={190}>Size</Table.Th>
        <Table.Th w={130}>
          <span className={classes['unseen']}>Actions</span>
        </Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
}

interface RowProps {
  run: SeenRun;
  name: string;
  toolName: string;
  watch: (element: Element | null) => (() => void) | undefined;
  onGone: () => void;
  onNews: (text: string) => void;
}

function RunTableRow({ watch, ...row }: RowProps) {
  const { run, name, toolName } = row;
  return (
    <Table.Tr className={classes['row'] ?? ''} ref={watch} data-run={run.id}>
      <Table.Td>
        <RunLink run={run} name={name} toolName={toolName} />
        <Files run={run} />
      </Table.Td>
      <Table.Td>
        <RunStatus run={run} />
        <State run={run} name={name} />
      </Table.Td>
      <Table.Td>
        <span className={classes['above']}>
          <TimeAgo at={run.created_at} />
        </span>
        <Detail>
          <Took run={run} />
        </Detail>
      </Table.Td>
      <Table.Td>
        <Sizes run={run} />
      </Table.Td>
      <Table.Td>
        <Actions {...row} />
      </Table.Td>
    </Table.Tr>
  );
}

function RunCard({ watch, ...row }: RowProps) {
  const { run, name, toolName } = row;
  return (
    <Paper component="li" withBorder className={classes['card'] ?? ''} ref={watch} data-run={run.id}>
      <div className={classes['cardHead']}>
        <div className={classes['grow']}>
          <RunLink run={run} name={name} toolName={toolName} />
          <Files run={run} />
        </div>
        <RunStatus run={run} />
      </div>
      <div className={classes['cardFoot']}>
        <Text size="xs" c="dimmed" component="div" className={classes['facts'] ?? ''}>
          <CardState run={run} />
          <span className={classes['above']}>
            <TimeAgo at={run.created_at} />
          </span>
          <Took run={run} />
          <Sizes run={run} inline />
        </Text>
        <Actions {...row} />
      </div>
      {run.status === 'processing' && (
        <div className={classes['cardProgress']}>
          <RunProgress run={run} label={`Progress of ${name}`} />
        </div>
      )}
    </Paper>
  );
}

/** The whole row leads to the run. */
function RunLink({ run, name, toolName }: { run: SeenRun; name: string; toolName: string }) {
  return (
    <Anchor
      component={Link}
      href={`/runs/${run.id}`}
      className={classes['link'] ?? ''}
      aria-label={name}
      fw={600}
      size="sm"
      c="inherit"
    >
      {toolName}
    </Anchor>
  );
}

function Files({ run: { inputs } }: { run: SeenRun }) {
  const [first, ...more] = inputs;
  return (
    <div className={classes['files']}>
      {first === undefined ? 'No file' : <FileName name={first.filename} />}
      {more.length > 0 && <span className={classes['more']}>and {more.length} more</span>}
    </div>
  );
}

/** What there is to say about the state beyond its name. */
function State({ run, name }: { run: SeenRun; name: string }) {
  if (run.status === 'processing')
    return (
      <div className={classes['state']}>
        <div className={classes['grow']}>
          <RunProgress run={run} label={`Progress of ${name}`} />
        </div>
        <span className={classes['percent']}>{run.progress ?? 0} %</span>
      </div>
    );
  return <Detail>{stateDetail(run)}</Detail>;
}

function CardState({ run }: { run: SeenRun }) {
  const text = run.status === 'processing' ? `${run.progress ?? 0} %` : stateDetail(run);
  return text === '' ? null : <span className={classes['cardState']}>{text}</span>;
}

function stateDetail({ status, queue_position, error }: SeenRun): string {
  if (status === 'queued') return queue_position === undefined ? 'Waiting' : `Number ${queue_position} in the queue`;
  return error === undefined || error.code === 'cancelled' ? '' : meaningOf(error.code).title;
}

/** How long the work took, or has taken so far. */
function Took({ run }: { run: SeenRun }) {
  const now = useNow(run.status === 'processing');
  const { processing } = timesOf(run, now);
  if (processing === undefined) return null;
  return (
    <span>
      {run.status === 'processing' ? `for ${formatSeconds(processing)}` : `took ${formatDuration(processing)}`}
    </span>
  );
}

/** Whole seconds while they are running: tenths would only flicker. */
function formatSeconds(ms: number): string {
  return formatDuration(Math.max(1000, Math.floor(ms / 1000) * 1000)).replace('.0', '');
}

function Sizes({ run, inline = false }: { run: SeenRun; inline?: boolean }) {
  const { in: before, out: after } = sizesOf(run);
  const change = before !== undefined && after !== undefined && before > 0 ? after / before - 1 : undefined;
  if (before === undefined && after === undefined) return null;
  return (
    <>
      <span className={classes['sizes']}>
        {before !== undefined && formatBytes(before)}
        {after !== undefined && <IconArrowNarrowRight size={16} stroke={1.6} aria-label="to" />}
        {after !== undefined && formatBytes(after)}
      </span>
      {!inline && <Detail>{change === undefined ? '' : formatChange(change)}</Detail>}
    </>
  );
}

function formatChange(change: number): string {
  const percent = Math.round(Math.abs(change) * 100);
  if (percent === 0) return 'same size';
  if (percent >= 1000) return `${Math.round(change + 1)} times the size`;
  return `${percent} % ${change < 0 ? 'smaller' : 'larger'}`;
}

function Actions({ run, name, onGone, onNews }: Omit<RowProps, 'watch'>) {
  const queries = useQueryClient();
  const onRetried = (id: string) => {
    void refreshLists(queries);
    notifications.show({
      color: 'mill',
      title: 'A new run was started',
      message: (
        <Anchor component={Link} href={`/runs/${id}`} size="sm">
          {name}
        </Anchor>
      ),
    });
  };
  const onChange = async () => {
    const changed = await refreshRun(queries, run.id);
    if (changed === undefined) return;
    if (isActive(run.status) && changed.error?.code === 'cancelled') onNews(`${name} was cancelled.`);
  };
  return (
    <div className={classes['actions']}>
      <RunActions
        run={run}
        name={name}
        compact
        onChange={onChange}
        onDeleted={() => {
          forgetRun(queries, run.id);
          onGone();
        }}
        onRetried={onRetried}
      />
    </div>
  );
}

function Detail({ children }: { children: React.ReactNode }) {
  return (
    <Text size="xs" c="dimmed" component="div" truncate className={classes['detail'] ?? ''}>
      {children}
    </Text>
  );
}

/** Keeps the place of a page of runs. */
export function RunRowsSkeleton() {
  const wide = useWide();
  const rows = Array.from({ length: 8 }, (_, index) => (
    <div key={index} className={wide ? classes['waitingRow'] : classes['waitingCard']}>
      <Skeleton height={13} width="32%" />
      <Skeleton height={10} width="22%" mt={10} />
    </div>
  ));
  return wide ? (
    <Paper withBorder aria-hidden className={classes['table'] ?? ''}>
      <div className={classes['waitingHead']} />
      {rows}
    </Paper>
  ) : (
    <div className={classes['cards']} aria-hidden>
      {rows}
    </div>
  );
}

function useWide(): boolean {
  return useMediaQuery('(min-width: 62em)', undefined, { getInitialValueInEffect: false });
}

/** Gives the reference of rows to be watched; tells the ids (`data-run`) of those on the screen. */
function useOnScreen(
  onChange: (ids: ReadonlySet<string>) => void,
): (element: Element | null) => (() => void) | undefined {
  const seen = useRef(new Set<string>());
  const observer = useRef<IntersectionObserver>(undefined);
  // Stable: a new one would be another reference to every row, at every change.
  return useCallback(
    (element) => {
      if (element === null) return undefined;
      observer.current ??= new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
          const id = target.getAttribute('data-run') ?? '';
          if (isIntersecting) seen.current.add(id);
          else seen.current.delete(id);
        }
        onChange(new Set(seen.current));
      });
      const watching = observer.current;
      watching.observe(element);
      return () => {
        watching.unobserve(element);
        seen.current.delete(element.getAttribute('data-run') ?? '');
      };
    },
    [onChange],
  );
}
