import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent } from 'react';
import type { SeenRun } from '../../parts/run-state.ts';
import { followRun } from '../../parts/run-stream.ts';
import { refreshRun, showMessage } from './run-list.ts';

/** Keeps one run of the lists up to date by its stream, for as long as it is mounted. Shows nothing. */
export function FollowRun({ id, onEnd }: { id: string; onEnd: (run: SeenRun) => void }) {
  const queries = useQueryClient();
  const ended = useEffectEvent(onEnd);
  useEffect(() => {
    const stopping = new AbortController();
    const onMessage = showMessage.bind(undefined, queries, id);
    const follow = async () => {
      await followRun(id, { signal: stopping.signal, onMessage }).catch(() => undefined);
      if (stopping.signal.aborted) return;
      // The last message lacks the times and what may be done now. After a refusal this tells whether the run is gone.
      const run = await refreshRun(queries, id);
      if (run !== undefined && !stopping.signal.aborted) ended(run);
    };
    void follow();
    return () => stopping.abort();
  }, [id, queries]);
  return null;
}
