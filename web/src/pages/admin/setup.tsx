import { Badge, Group, ScrollArea, Skeleton, Stack, Table, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatBytes, formatLimit } from '../../parts/format.ts';
import type { AdminSettings, PlanInfo } from '../../wire.ts';
import classes from './setup.module.css';

const limits: { name: string; show: (plan: PlanInfo) => string }[] = [
  { name: 'API access', show: ({ api_access }) => (api_access ? 'yes' : 'no') },
  { name: 'Requests a minute', show: (plan) => formatLimit(plan.requests_per_minute) },
  { name: 'Runs a day', show: (plan) => formatLimit(plan.runs_per_day) },
  { name: 'Runs at once', show: (plan) => formatLimit(plan.concurrent_runs) },
  { name: 'Size of a file', show: (plan) => formatLimit(plan.max_file_bytes, formatBytes) },
  { name: 'Files of a run', show: (plan) => formatLimit(plan.max_files) },
  { name: 'Size of a run', show: (plan) => formatLimit(plan.max_run_bytes, formatBytes) },
  { name: 'Members', show: (plan) => formatLimit(plan.members) },
];

/** The operator's configuration, to read. */
export function Setup({ settings }: { settings: UseQueryResult<AdminSettings> }) {
  if (settings.isPending) return <Skeleton height={460} aria-hidden />;
  if (settings.data === undefined) return <ErrorState error={settings.error} onRetry={() => void settings.refetch()} />;
  const { plans, default_plan, open_sign_up, oidc } = settings.data;
  return (
    <Stack gap="lg">
      <dl className={classes['facts']}>
        <dt>Sign-up</dt>
        <dd>
          {open_sign_up ? 'Open: anybody may make an account' : 'By invitation only'}{' '}
          <Variable name="MILLRUN_SIGN_UP" />
        </dd>
        <dt>Plan of a new account</dt>
        <dd>
          {default_plan} <Variable name="MILLRUN_DEFAULT_PLAN" />
        </dd>
        <dt>OpenID Connect</dt>
        <dd>
          {oidc ?? 'Not set up'} <Variable name="MILLRUN_OIDC_ISSUER" />
        </dd>
      </dl>
      <Stack gap="xs">
        <Title order={3} size="h5">
          Plans
        </Title>
        <PlanTable plans={plans} defaultPlan={default_plan} />
      </Stack>
    </Stack>
  );
}

/** Where the operator sets it. */
function Variable({ name }: { name: string }) {
  return (
    <Text span size="xs" c="dimmed" ff="monospace">
      {name}
    </Text>
  );
}

function PlanTable({ plans, defaultPlan }: { plans: PlanInfo[]; defaultPlan: string }) {
  return (
    <ScrollArea type="auto" viewportProps={{ tabIndex: 0, role: 'region', 'aria-label': 'Plans' }}>
      <Table miw={`${9 + plans.length * 7}rem`} verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">
              <Text span size="sm" c="dimmed">
                Limit
              </Text>
            </Table.Th>
            {plans.map(({ name }) => (
              <Table.Th key={name} scope="col">
                <Group gap={6}>
                  {name}
                  {name === defaultPlan && (
                    <Badge variant="dot" size="sm" tt="none" fw={500}>
                      default
                    </Badge>
                  )}
                </Group>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {limits.map(({ name, show }) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400}>
                {name}
              </Table.Th>
              {plans.map((plan) => (
                <Table.Td key={plan.name}>{show(plan)}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea>
  );
}
