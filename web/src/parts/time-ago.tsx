import { Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { formatDateTime, formatRelative } from './format.ts';

const refreshMs = 30_000;

/** A moment as a distance from now, which keeps up; the exact time on hover and focus. */
export function TimeAgo({ at }: { at: string }) {
  const [, refresh] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => refresh((count) => count + 1), refreshMs);
    return () => clearInterval(timer);
  }, []);
  return (
    <Tooltip label={formatDateTime(at)}>
      <time dateTime={at}>{formatRelative(at)}</time>
    </Tooltip>
  );
}
