import { Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ErrorState } from '../../parts/error-state.tsx';
import { Page } from '../../parts/page.tsx';
import { usePerson } from '../../session.ts';
import { History } from './history.tsx';
import { PlanLimits } from './plan-limits.tsx';
import { Today } from './today.tsx';
import { usageQuery } from './usage-queries.ts';

export default function UsagePage() {
  const { account } = usePerson();
  const usage = useQuery(usageQuery);
  return (
    <Page title="Usage" lead={`What ${account.name} uses, and what its plan allows.`}>
      <Stack gap="xl">
        {usage.data === undefined && usage.isError ? (
          <ErrorState error={usage.error} onRetry={() => void usage.refetch()} />
        ) : (
          <Today usage={usage.data} />
        )}
        <PlanLimits usage={usage.data} />
        <History />
      </Stack>
    </Page>
  );
}
