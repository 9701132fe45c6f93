import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { ApiError, apiPrefix, call } from '../../api.ts';
import { sessionKey } from '../../session.ts';
import { findUnreadable, newKey, submitRun, type Order, type UploadProgress } from './submit-run.ts';

export type Phase =
  | { kind: 'idle' }
  | {
      kind: 'uploading';
      order: Order;
      progress: UploadProgress;
      bytesPerSecond: number | undefined;
      /** Everything is sent, so the run may exist: it is cancelled as soon as its id is known. */
      cancelling: boolean;
    }
  | { kind: 'refused'; order: Order; error: ApiError; unreadable: readonly number[] }
  | { kind: 'accepted'; order: Order; runId: string };

export interface SubmissionState {
  phase: Phase;
  /** A press of the button: a new run. */
  start(order: Omit<Order, 'key'>): void;
  /** The same order under the same key: if the lost try made the run, this finds it. */
  resend(): void;
  /** Ends an upload, and the run that it may have made already. */
  abort(): void;
}

/** The way from the form to a run: the upload with its progress, the refusal, or the id of the run. */
export function useSubmission(): SubmissionState {
  const queries = useQueryClient();
  const [phase, setPhase] = useState<Phase>({ kind: 'idle' });
  const sending = useRef<AbortController>(undefined);
  const cancelling = useRef(false);
  useEffect(() => () => sending.current?.abort(), []);

  const send = useCallback(
    async (order: Order) => {
      sending.current?.abort();
      const stopping = new AbortController();
      sending.current = stopping;
      cancelling.current = false;
      const speed = createSpeedometer();
      const show = (progress: UploadProgress) =>
        setPhase({
          kind: 'uploading',
          order,
          progress,
          bytesPerSecond: speed(progress.sentBytes),
          cancelling: cancelling.current,
        });
      show({ sentBytes: 0, totalBytes: 0 });
      try {
        const { id } = await submitRun(order, { signal: stopping.signal, onProgress: show });
        // What became of it, the run itself shows.
        if (cancelling.current) await call('POST', `${apiPrefix}/runs/${id}/cancel`).catch(() => undefined);
        setPhase({ kind: 'accepted', order, runId: id });
      } catch (error) {
        if (stopping.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, {});
        if (known.status === 401) void queries.invalidateQueries({ queryKey: sessionKey });
        const unreadable = known.status === 0 ? await findUnreadable(order.files) : [];
        if (!stopping.signal.aborted) setPhase({ kind: 'refused', order, error: known, unreadable });
      } finally {
        void queries.invalidateQueries({ queryKey: ['usage'] });
      }
    },
    [queries],
  );

  const abort = useCallback(() => {
    if (phase.kind !== 'uploading') return;
    const { sentBytes, totalBytes } = phase.progress;
    if (totalBytes > 0 && sentBytes === totalBytes) {
      cancelling.current = true;
      setPhase({ ...phase, cancelling: true });
      return;
    }
    sending.current?.abort();
    setPhase({ kind: 'idle' });
  }, [phase]);

  return {
    phase,
    start: (order) => void send({ ...order, key: newKey() }),
    resend: () => {
      if (phase.kind === 'refused') void send(phase.order);
    },
    abort,
  };
}

/** Bytes a second over the last few seconds; undefined until there is enough to tell. */
function createSpeedometer(): (sentBytes: number) => number | undefined {
  const windowMs = 5000;
  const samples: { at: number; bytes: number }[] = [];
  return (bytes) => {
    const at = performance.now();
    samples.push({ at, bytes });
    while (samples.length > 2 && at - (samples[0]?.at ?? at) > windowMs) samples.shift();
    const [first] = samples;
    if (first === undefined || at - first.at < 1000) return undefined;
    return ((bytes - first.bytes) / (at - first.at)) * 1000;
  };
}
