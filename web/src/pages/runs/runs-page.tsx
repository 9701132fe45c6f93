import { Button, Group, Select, VisuallyHidden } from '@mantine/core';
import { useDocumentVisibility } from '@mantine/hooks';
import { IconActivity, IconChevronLeft, IconChevronRight, IconFilterOff } from '@tabler/icons-react';
import type { RunStatus } from '@millrun/sdk';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useHistoryState } from 'wouter/use-browser-location';
import { ApiError } from '../../api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Page } from '../../parts/page.tsx';
import type { SeenRun } from '../../parts/run-state.ts';
import { statusText } from '../../parts/run-status.tsx';
import { toolsQuery, useToolName } from '../../parts/tools-query.ts';
import { addressOf, newerPage, olderPage, readAddress, type Trail } from './address.ts';
import { FollowRun } from './follow-run.tsx';
import { toFollow } from './rows.ts';
import { runListQuery, type ListQuery } from './run-list.ts';
import { RunRows, RunRowsSkeleton } from './run-rows.tsx';
import { runName } from '../../parts/run-name.ts';
import classes from './runs-page.module.css';
import { useHeldRows } from './use-held-rows.ts';

export default function RunsPage() {
  const [search] = useSearchParams();
  const query = readAddress(search);
  return (
    <Page title="Runs" lead="What was sent to the tools, from here and from your programs.">
      <Runs key={addressOf({ ...query, cursor: undefined })} query={query} />
    </Page>
  );
}

function Runs({ query }: { query: ListQuery }) {
  const list = useQuery({ ...runListQuery(query), placeholderData: keepPreviousData });
  const { rows, waiting, hold, release, drop } = useHeldRows(list.data?.runs ?? []);
  const [onScreen, setOnScreen] = useState<ReadonlySet<string>>(new Set());
  const [news, announce] = useState('');
  const toolName = useToolName();
  const place = useRef<HTMLDivElement>(null);
  const visible = useDocumentVisibility() === 'visible';

  const shown = useRef(query.cursor);
  useEffect(() => {
    if (shown.current === query.cursor) return;
    shown.current = query.cursor;
    release();
    window.scrollTo(0, 0);
    place.current?.focus({ preventScroll: true });
  }, [query.cursor, release]);

  const onEnd = (run: SeenRun) => announce(`${runName(run, toolName)}: ${statusText(run)}.`);
  const onGone = (id: string) => {
    drop(id);
    announce('The run was deleted.');
    place.current?.focus({ preventScroll: true });
  };
  const narrowed = query.status !== undefined || query.tool !== undefined;
  return (
    <>
      <Group justify="space-between" align="flex-end" gap="sm" className={classes['bar'] ?? ''}>
        <Filters query={query} />
        <Notice waiting={waiting} stale={list.data !== undefined && list.isError} onShow={release} />
      </Group>
      <VisuallyHidden aria-live="polite">{news}</VisuallyHidden>
      <div
        ref={place}
        tabIndex={-1}
        className={classes['place']}
        data-old={list.isPlaceholderData || undefined}
        {...hold}
      >
        {rows.length > 0 && (
          <RunRows runs={rows} toolName={toolName} onScreen={setOnScreen} onGone={onGone} onNews={announce} />
        )}
        {list.data?.runs.length === 0 && rows.length === 0 && (
          <NoRuns narrowed={narrowed} older={query.cursor !== undefined} />
        )}
        {list.isPending && <RunRowsSkeleton />}
        {list.isLoadingError && <NotLoaded error={list.error} query={query} onRetry={() => void list.refetch()} />}
      </div>
      {list.data !== undefined && (
        <Pager query={query} nextCursor={list.isPlaceholderData ? null : list.data.nextCursor} />
      )}
      {visible && toFollow(rows, onScreen).map((id) => <FollowRun key={id} id={id} onEnd={onEnd} />)}
    </>
  );
}

const statuses: readonly { value: RunStatus; label: string }[] = [
  { value: 'queued', label: 'Queued' },
  { value: 'processing', label: 'Processing' },
  { value: 'done', label: 'Done' },
  { value: 'failed', label: 'Failed' },
];

function Filters({ query }: { query: ListQuery }) {
  const [, setSearch] = useSearchParams();
  const { data: tools = [] } = useQuery(toolsQuery);
  const known = tools
    .map(({ slug, name }) => ({ value: slug, label: name }))
    .toSorted((a, b) => a.label.localeCompare(b.label));
  const chosen = query.tool;
  // A tool that is no longer offered has runs all the same.
  const options =
    chosen === undefined || tools.some(({ slug }) => slug === chosen)
      ? known
      : [...known, { value: chosen, label: chosen }];
  const narrow = (name: 'status' | 'tool', value: string | null) =>
    setSearch((search) => {
      const next = new URLSearchParams(search);
      next.delete('cursor');
      if (value === null) next.delete(name);
      else next.set(name, value);
      return next;
    });
  return (
    <Group gap="sm" align="flex-end" className={classes['filters'] ?? ''}>
      <Select
        label="State"
        placeholder="Any"
        data={statuses}
        value={query.status ?? null}
        onChange={(value) => narrow('status', value)}
        clearable
        clearButtonProps={{ 'aria-label': 'Any state' }}
        className={classes['filter'] ?? ''}
      />
      <Select
        label="Tool"
        placeholder="Any"
        data={options}
        value={chosen ?? null}
        onChange={(value) => narrow('tool', value)}
        clearable
        clearButtonProps={{ 'aria-label': 'Any tool' }}
        searchable
        nothingFoundMessage="No tool of this name"
        className={classes['filter'] ?? ''}
      />
    </Group>
  );
}

/** Why the list is not quite as it is on the server, and what to do about it; keeps its place when there is nothing. */
function Notice({ waiting, stale, onShow }: { waiting: number; stale: boolean; onShow: () => void }) {
  return (
    <div className={classes['notice']} aria-live="polite">
      {waiting > 0 && (
        <Button variant="light" onClick={onShow}>
          {waiting === 1 ? 'Show 1 new run' : `Show ${waiting} new runs`}
        </Button>
      )}
      {waiting === 0 && stale && 'Not up to date: the server does not answer.'}
    </div>
  );
}

function NoRuns({ narrowed, older }: { narrowed: boolean; older: boolean }) {
  if (older)
    return (
      <EmptyState icon={<IconActivity size={24} />} title="No older runs">
        The list ends here. Records of runs are kept for 30 days.
      </EmptyState>
    );
  if (narrowed)
    return (
      <EmptyState
        icon={<IconFilterOff size={24} />}
        title="No run matches"
        action={
          <Button component={Link} href="/runs" variant="default">
            Show all runs
          </Button>
        }
      >
        There is no run of this state and tool.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={<IconActivity size={24} />}
      title="No runs yet"
      action={
        <Group gap="xs" justify="center">
          <Button component={Link} href="/tools">
            Choose a tool
          </Button>
          <Button component={Link} href="/quick-start" variant="default">
            Use the API
          </Button>
        </Group>
      }
    >
      Send a file to a tool, here or with a program, and watch it being processed in this list.
    </EmptyState>
  );
}

function NotLoaded({ error, query, onRetry }: { error: unknown; query: ListQuery; onRetry: () => void }) {
  if (error instanceof ApiError && error.code === 'invalid_cursor')
    return (
      <EmptyState
        icon={<IconActivity size={24} />}
        title="This place in the list is not known"
        action={
          <Button component={Link} href={addressOf({ ...query, cursor: undefined })} variant="default">
            Show the newest runs
          </Button>
        }
      >
        The address of this page is not complete.
      </EmptyState>
    );
  return <ErrorState error={error} onRetry={onRetry} />;
}

/** Leads through the pages; the address keeps the place, and the history of the tab the way back to newer ones. */
function Pager({ query, nextCursor }: { query: ListQuery; nextCursor: string | null }) {
  const trail = useHistoryState<Trail | null>()?.trail ?? [];
  const newer = newerPage(query, trail);
  const older = olderPage(query, trail, nextCursor);
  if (newer === undefined && older === undefined) return null;
  return (
    <Group component="nav" justify="space-between" aria-label="Pages of runs">
      {newer === undefined ? (
        <span />
      ) : (
        <Button
          variant="default"
          leftSection={<IconChevronLeft size={16} aria-hidden />}
          renderRoot={(props) => <Link {...props} href={newer.address} state={newer.state} />}
        >
          {trail.length > 0 ? 'Newer' : 'Newest'}
        </Button>
      )}
      {older !== undefined && (
        <Button
          variant="default"
          rightSection={<IconChevronRight size={16} aria-hidden />}
          renderRoot={(props) => <Link {...props} href={older.address} state={older.state} />}
        >
          Older
        </Button>
      )}
    </Group>
  );
}
