import { Button, NativeSelect, Stack, Text, TextInput, VisuallyHidden } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { call } from '../../api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatDate, formatNumber } from '../../parts/format.ts';
import { Cell, Row, RowActions, RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { sessionKey } from '../../session.ts';
import type { AdminAccount, AdminAccounts, PlanInfo } from '../../wire.ts';
import { PeopleDialog } from './people-dialog.tsx';

type Dialog = { kind: 'people'; account: AdminAccount } | { kind: 'plan'; account: AdminAccount; plan: string };

const accountsKey = ['admin', 'accounts'];
const pageSize = 25;
const typingMs = 250;

interface AccountsProps {
  /** Absent until they are known. */
  plans: PlanInfo[] | undefined;
  /** Waits for the list, whose length nobody knows before: what stands below it must not jump. */
  below: ReactNode;
}

/** All accounts, to search through. */
export function Accounts({ plans, below }: AccountsProps) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), typingMs);
  const [dialog, setDialog] = useState<Dialog>();
  const list = useInfiniteQuery({
    queryKey: [...accountsKey, search],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({ limit: String(pageSize) });
      if (search !== '') query.set('q', search);
      if (pageParam !== null) query.set('cursor', pageParam);
      return call<AdminAccounts>('GET', `/account/admin/accounts?${query}`, undefined, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  const close = () => setDialog(undefined);
  const reload = async () => {
    await queries.invalidateQueries({ queryKey: accountsKey });
    // It may be the account this page itself is in.
    await queries.invalidateQueries({ queryKey: sessionKey });
  };
  const accounts = list.data?.pages.flatMap(({ data }) => data);
  return (
    <Stack gap="xl">
      <Stack gap="md">
        <TextInput
          type="search"
          aria-label="Search accounts by name or e-mail address"
          placeholder="Search by name or e-mail address"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          maw="26rem"
        />
        <VisuallyHidden aria-live="polite">
          {accounts === undefined ? '' : countOf(accounts, list.hasNextPage)}
        </VisuallyHidden>
        {list.isPending && <RowSkeleton rows={6} height={78} />}
        {accounts === undefined && list.isError && (
          <ErrorState error={list.error} onRetry={() => void list.refetch()} />
        )}
        {accounts?.length === 0 && (
          <Text c="dimmed" py="lg">
            {search === '' ? 'There is no account yet.' : `No account has “${search}” in its name or addresses.`}
          </Text>
        )}
        {accounts !== undefined && accounts.length > 0 && (
          <RowList label="Accounts" columns="minmax(0, 1fr) 8rem 4rem 5rem 5rem 5.5rem">
            {accounts.map((account) => (
              <AccountRow
                key={account.id}
                account={account}
                plans={plans}
                onPlan={(plan) => setDialog({ kind: 'plan', account, plan })}
                onPeople={() => setDialog({ kind: 'people', account })}
              />
            ))}
          </RowList>
        )}
        {list.isFetchNextPageError && <ErrorState error={list.error} />}
        {list.hasNextPage && (
          <Button
            variant="default"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
            style={{ alignSelf: 'flex-start' }}
          >
            Show more accounts
          </Button>
        )}
      </Stack>
      {!list.isPending && below}
      {dialog?.kind === 'people' && <PeopleDialog account={dialog.account} onClose={close} />}
      {dialog?.kind === 'plan' && (
        <ConfirmDialog
          title="Change the plan?"
          confirm={`Change to ${dialog.plan}`}
          action={async () => {
            await call<AdminAccount>('PATCH', `/account/admin/accounts/${dialog.account.id}`, { plan: dialog.plan });
            await reload();
          }}
          onClose={close}
        >
          <strong>{dialog.account.name}</strong> moves from {dialog.account.plan} to {dialog.plan}. The new limits hold
          from now on, for its tokens too.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function countOf(accounts: AdminAccount[], more: boolean): string {
  const count = `${accounts.length} ${accounts.length === 1 ? 'account' : 'accounts'}`;
  return more ? `${count}, and more` : count;
}

interface AccountRowProps {
  account: AdminAccount;
  plans: PlanInfo[] | undefined;
  onPlan: (plan: string) => void;
  onPeople: () => void;
}

function AccountRow({ account, plans, onPlan, onPeople }: AccountRowProps) {
  const names = plans?.map(({ name }) => name) ?? [];
  // A plan the operator has since taken out of the configuration is still the plan of its accounts.
  const choices = names.includes(account.plan) ? names : [account.plan, ...names];
  return (
    <Row>
      <div>
        <Text fw={600} lineClamp={2}>
          {account.name}
        </Text>
        <Text size="sm" c="dimmed" mt={2} style={{ overflowWrap: 'anywhere' }}>
          {account.email === account.name ? 'Made' : `${account.email}, made`} {formatDate(account.created_at)}
        </Text>
      </div>
      <NativeSelect
        size="xs"
        aria-label={`Plan of ${account.name}`}
        data={choices}
        value={account.plan}
        disabled={plans === undefined}
        onChange={(event) => onPlan(event.currentTarget.value)}
      />
      <Cell name="Members">{formatNumber(account.members)}</Cell>
      <Cell name="Runs today">{formatNumber(account.runs_today)}</Cell>
      <Cell name="In 30 days">{formatNumber(account.runs_30_days)}</Cell>
      <RowActions>
        <Button size="xs" variant="default" onClick={onPeople} aria-label={`People of ${account.name}`}>
          People
        </Button>
      </RowActions>
    </Row>
  );
}
