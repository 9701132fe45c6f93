import type { Run, Tool } from '@millrun/sdk';
import { Button, Skeleton, Stack } from '@mantine/core';
import { IconTools } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { ApiError, apiPrefix, call } from '../../api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { runKey } from '../../parts/live-run.ts';
import { Page } from '../../parts/page.tsx';
import { toolsQuery } from '../../parts/tools-query.ts';
import { labelOfName } from './labels.ts';
import classes from './tool.module.css';
import { Workspace } from './workspace.tsx';

/** A tool to use: its files, its settings, the run as it happens, and the same run as code. */
export default function ToolPage({ slug }: { slug: string }) {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: [...toolsQuery.queryKey, slug],
    queryFn: ({ signal }) => call<Tool>('GET', `${apiPrefix}/tools/${encodeURIComponent(slug)}`, undefined, signal),
    initialData: () => queries.getQueryData(toolsQuery.queryKey)?.find((tool) => tool.slug === slug),
    // A form must not change under somebody's hands.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const like = useRunToRepeat(slug);
  if (data !== undefined && !like.isLoading)
    return <Workspace tool={data} given={like.data?.settings} onCheckAgain={() => void refetch()} />;
  if (error instanceof ApiError && error.status === 404) return <NoSuchTool />;
  return (
    <Page title={labelOfName(slug)}>
      {error === null ? <Waiting /> : <ErrorState error={error} onRetry={() => void refetch()} />}
    </Page>
  );
}

/** The run whose settings the form starts with: `?from=run_…`. One that is gone, or of another tool, is passed over. */
function useRunToRepeat(slug: string) {
  const [search] = useSearchParams();
  const id = search.get('from');
  return useQuery({
    queryKey: runKey(id ?? ''),
    queryFn: ({ signal }) => call<Run>('GET', `${apiPrefix}/runs/${encodeURIComponent(id ?? '')}`, undefined, signal),
    enabled: id !== null,
    select: (run) => (run.tool === slug ? run : undefined),
  });
}

function NoSuchTool() {
  return (
    <Page title="No such tool">
      <EmptyState
        icon={<IconTools size={24} />}
        title="There is no tool at this address"
        action={
          <Button component={Link} href="/tools">
            All tools
          </Button>
        }
      >
        It may have another name on this server, or it belongs to a newer version.
      </EmptyState>
    </Page>
  );
}

/** As high as the page will be. */
function Waiting() {
  return (
    <div className={classes['columns']}>
      <Stack gap="lg">
        <Skeleton height="13rem" />
        <Skeleton height="22rem" />
      </Stack>
      <Skeleton height="30rem" />
    </div>
  );
}
