import type { Usage, UsageHistory } from '@millrun/sdk';
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { apiPrefix, call } from '../../api.ts';

/** The minute's requests move quickly; what a day came to does not. */
const usageRefreshMs = 3000;
const historyRefreshMs = 60_000;

export const usageQuery = queryOptions({
  queryKey: ['usage'] as const,
  queryFn: ({ signal }) => call<Usage>('GET', `${apiPrefix}/usage`, undefined, signal),
  refetchInterval: usageRefreshMs,
});

export function historyQuery(days: number) {
  return queryOptions({
    queryKey: ['usage', 'history', days] as const,
    queryFn: ({ signal }) => call<UsageHistory>('GET', `${apiPrefix}/usage/history?days=${days}`, undefined, signal),
    refetchInterval: historyRefreshMs,
    // The chart of another span stays until the new one is here.
    placeholderData: keepPreviousData,
  });
}
