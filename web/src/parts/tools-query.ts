import type { Tool, ToolList } from '@millrun/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { apiPrefix, call } from '../api.ts';

const staleMs = 60_000;

/** Everything the service offers. */
export const toolsQuery = queryOptions({
  queryKey: ['tools'] as const,
  queryFn: async ({ signal }) => (await call<ToolList>('GET', `${apiPrefix}/tools`, undefined, signal)).data,
  staleTime: staleMs,
});

/** Gives the name of a tool; the slug where it is not known, or not yet. */
export function useToolName(): (slug: string) => string {
  const { data } = useQuery(toolsQuery);
  return (slug) => data?.find((tool: Tool) => tool.slug === slug)?.name ?? slug;
}
