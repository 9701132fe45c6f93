import { useEffect, useState } from 'react';
import { secondsUntil } from './run-state.ts';

/** Whole seconds until a moment, in milliseconds since 1970, counting down to 0. */
export function useSecondsUntil(moment: number | undefined): number {
  const [ticks, tick] = useState(0);
  useEffect(() => {
    const left = moment === undefined ? 0 : moment - Date.now();
    if (left <= 0) return undefined;
    // A little after the second is over: timers may come early.
    const timer = setTimeout(() => tick((count) => count + 1), (left % 1000) + 10);
    return () => clearTimeout(timer);
  }, [moment, ticks]);
  return secondsUntil(moment, Date.now());
}
