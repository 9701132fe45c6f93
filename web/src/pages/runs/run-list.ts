import type { Run, RunPage, RunStatus, StreamMessage } from '@millrun/sdk';
import { queryOptions, type QueryClient } from '@tanstack/react-query';
import { ApiError, apiPrefix, call } from '../../api.ts';
import { afterMessage, isActive, newer, seen, type SeenRun } from '../../parts/run-state.ts';

/** What a list of runs is narrowed to, and where it begins. */
export interface ListQuery {
  status?: RunStatus;
  tool?: string;
  /** `next_cursor` of the page before; absent for the newest runs. */
  cursor?: string;
}

export interface RunList {
  runs: SeenRun[];
  nextCursor: string | null;
}

const listKey = ['run-list'] as const;

/** How often a list looks for new runs, and for those whose stream is not followed, in milliseconds. */
const refreshMs = 5000;
/** The same after a refusal: the requests of the minute are for the person's programs first. */
const refusedRefreshMs = 30_000;

/** A page of runs that keeps up while the tab is visible: the newest one always, an older one while a run in it goes on. */
export function runListQuery(query: ListQuery) {
  return queryOptions({
    queryKey: [...listKey, query] as const,
    queryFn: async ({ client, signal }): Promise<RunList> => {
      const search = new URLSearchParams({ ...query });
      const page = await call<RunPage>('GET', `${apiPrefix}/runs?${search}`, undefined, signal);
      const now = Date.now();
      const runs = page.data.map((run) => newer(findRun(client, run.id), seen(run, now)));
      return { runs, nextCursor: page.next_cursor };
    },
    staleTime: 0,
    refetchInterval: ({ state: { data, error } }) => {
      if (error !== null) return refusedRefreshMs;
      const keepsUp = query.cursor === undefined || data?.runs.some(({ status }) => isActive(status)) === true;
      return keepsUp && refreshMs;
    },
  });
}

/** Looks at one run again and shows what it has become; a run that is gone is taken out. */
export async function refreshRun(queries: QueryClient, id: string): Promise<SeenRun | undefined> {
  try {
    const run = await call<Run>('GET', `${apiPrefix}/runs/${encodeURIComponent(id)}`);
    const fresh = seen(run, Date.now());
    changeRun(queries, id, (known) => newer(known, fresh));
    return fresh;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) forgetRun(queries, id);
    return undefined;
  }
}

export function showMessage(queries: QueryClient, id: string, message: StreamMessage): void {
  changeRun(queries, id, (run) => afterMessage(run, message));
}

/** Takes a deleted run out of every list. Replies under way may still have it, so they are dropped. */
export function forgetRun(queries: QueryClient, id: string): void {
  void queries.cancelQueries({ queryKey: listKey });
  changeLists(queries, (runs) => runs.filter((run) => run.id !== id));
}

/** Looks for new runs at once. */
export function refreshLists(queries: QueryClient): Promise<void> {
  return queries.invalidateQueries({ queryKey: listKey });
}

function changeRun(queries: QueryClient, id: string, change: (run: SeenRun) => SeenRun): void {
  changeLists(queries, (runs) => runs.map((run) => (run.id === id ? change(run) : run)));
}

function changeLists(queries: QueryClient, change: (runs: SeenRun[]) => SeenRun[]): void {
  queries.setQueriesData<RunList>({ queryKey: listKey }, (list) => list && { ...list, runs: change(list.runs) });
}

function findRun(queries: QueryClient, id: string): SeenRun | undefined {
  const lists = queries.getQueriesData<RunList>({ queryKey: listKey });
  return lists.flatMap(([, list]) => list?.runs ?? []).find((run) => run.id === id);
}
