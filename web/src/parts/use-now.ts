import { useEffect, useState } from 'react';

const secondMs = 1000;

/** The time in milliseconds since 1970, which goes on by the second while it is needed. */
export function useNow(ticking: boolean): number {
  const [, tick] = useState(0);
  useEffect(() => {
    if (!ticking) return undefined;
    const timer = setInterval(() => tick((count) => count + 1), secondMs);
    return () => clearInterval(timer);
  }, [ticking]);
  return Date.now();
}
