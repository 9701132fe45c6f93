import type { Run, StreamMessage } from '@millrun/sdk';
import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { apiPrefix, call } from '../api.ts';
import { afterMessage, isActive } from './run-state.ts';
import { followRun } from './run-stream.ts';

/** The stream tells the place in the queue only when it begins: how often it is asked for, in milliseconds. */
const queueRefreshMs = 10_000;
/** Download addresses hold for an hour: a page that stays open asks for new ones before that, in milliseconds. */
const linkRefreshMs = 45 * 60_000;

export function runKey(id: string): readonly [string, string] {
  return ['runs', id];
}

export interface LiveRun {
  query: UseQueryResult<Run>;
  /** False while the stream is cut off and being connected again. */
  connected: boolean;
}

/**
 * A run as it is now, kept up to date by its stream until it ends, and with fresh download addresses after that. Without
 * an id there is nothing to follow yet.
 */
export function useLiveRun(id: string | undefined): LiveRun {
  const queries = useQueryClient();
  const [connected, setConnected] = useState(true);
  const query = useQuery({
    queryKey: runKey(id ?? ''),
    queryFn: ({ signal }) => call<Run>('GET', `${apiPrefix}/runs/${encodeURIComponent(id ?? '')}`, undefined, signal),
    enabled: id !== undefined,
    refetchInterval: ({ state }) => {
      if (state.data?.status === 'queued') return queueRefreshMs;
      return state.data?.status === 'done' ? linkRefreshMs : false;
    },
  });
  const active = query.data !== undefined && isActive(query.data.status);
  useEffect(() => {
    if (id === undefined || !active) return undefined;
    const stopping = new AbortController();
    const onMessage = (message: StreamMessage) => {
      // The end is read whole: the message lacks times, actions and how long the files are kept.
      if (!isActive(message.status)) return;
      queries.setQueryData<Run>(runKey(id), (run) => run && afterMessage(run, message));
    };
    const refresh = () => void queries.invalidateQueries({ queryKey: runKey(id) });
    followRun(id, { signal: stopping.signal, onMessage, onConnection: setConnected }).then(refresh, () => {
      if (!stopping.signal.aborted) refresh();
    });
    return () => stopping.abort();
  }, [active, id, queries]);
  return { query, connected };
}
