import { Alert, Anchor, Button, Stack, UnstyledButton } from '@mantine/core';
import { IconChevronDown, IconChevronRight, IconInfoCircle, IconKey, IconPlus } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { call } from '../../api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Page } from '../../parts/page.tsx';
import { RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { useNow } from '../../parts/use-now.ts';
import { usePerson } from '../../session.ts';
import type { MadeToken, TokenInfo } from '../../wire.ts';
import { MadeTokenDialog } from './made-token-dialog.tsx';
import { NewTokenDialog } from './new-token-dialog.tsx';
import { RotateDialog } from './rotate-dialog.tsx';
import { TokenRow, tokenColumns } from './token-row.tsx';
import { isFormer } from './token-state.ts';
import classes from './tokens-page.module.css';

type Dialog =
  | { kind: 'new' }
  | { kind: 'made'; token: MadeToken }
  | { kind: 'rotate'; token: TokenInfo }
  | { kind: 'revoke'; token: TokenInfo };

const tokensKey = ['tokens'];

export default function TokensPage() {
  const { account } = usePerson();
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>();
  const list = useQuery({
    queryKey: tokensKey,
    queryFn: ({ signal }) => call<{ data: TokenInfo[] }>('GET', '/account/tokens', undefined, signal),
  });
  const reload = () => queries.invalidateQueries({ queryKey: tokensKey });
  const close = () => setDialog(undefined);
  const onMade = (token: MadeToken) => {
    setDialog({ kind: 'made', token });
    void reload();
  };
  const make = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'new' })}>
      New token
    </Button>
  );
  return (
    <Page
      title="API tokens"
      lead={
        <>
          Programs call the API with a token, as this account.
          {account.role === 'owner' && (
            <>
              {' '}
              The{' '}
              <Anchor component={Link} href="/settings#audit" inherit underline="always">
                audit log
              </Anchor>{' '}
              says who made, rotated and revoked them.
            </>
          )}
        </>
      }
      actions={make}
    >
      <NoAccess />
      {list.data !== undefined && (
        <Lists
          tokens={list.data.data}
          make={make}
          onRotate={(token) => setDialog({ kind: 'rotate', token })}
          onRevoke={(token) => setDialog({ kind: 'revoke', token })}
        />
      )}
      {list.isPending && <RowSkeleton rows={3} height={81} />}
      {list.data === undefined && list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {dialog?.kind === 'new' && <NewTokenDialog onMade={onMade} onClose={close} />}
      {dialog?.kind === 'made' && <MadeTokenDialog token={dialog.token} onClose={close} />}
      {dialog?.kind === 'rotate' && <RotateDialog token={dialog.token} onMade={onMade} onClose={close} />}
      {dialog?.kind === 'revoke' && (
        <ConfirmDialog
          title={`Revoke “${dialog.token.name}”?`}
          confirm="Revoke it"
          danger
          action={async () => {
            await call('DELETE', `/account/tokens/${dialog.token.id}`);
            await reload();
          }}
          onClose={close}
        >
          Programs that use {dialog.token.prefix}… are refused from now on. This cannot be undone. To replace it without
          a gap, rotate it instead.
        </ConfirmDialog>
      )}
    </Page>
  );
}

interface ListsProps {
  tokens: TokenInfo[];
  make: React.ReactNode;
  onRotate: (token: TokenInfo) => void;
  onRevoke: (token: TokenInfo) => void;
}

function Lists({ tokens, make, onRotate, onRevoke }: ListsProps) {
  const now = useNow(true);
  const [open, setOpen] = useState(false);
  const newest = tokens.toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  const current = newest.filter((token) => !isFormer(token, now));
  const former = newest.filter((token) => isFormer(token, now));
  const rows = (shown: TokenInfo[], label: string) => (
    <RowList label={label} columns={tokenColumns}>
      {shown.map((token) => (
        <TokenRow
          key={token.id}
          token={token}
          now={now}
          onRotate={() => onRotate(token)}
          onRevoke={() => onRevoke(token)}
        />
      ))}
    </RowList>
  );
  return (
    <Stack gap="md">
      {current.length > 0 ? (
        rows(current, 'API tokens')
      ) : (
        <EmptyState icon={<IconKey />} title="No tokens yet" action={make}>
          A token lets your scripts and servers use the tools of this account.
        </EmptyState>
      )}
      {former.length > 0 && (
        <>
          <UnstyledButton className={classes['former'] ?? ''} onClick={() => setOpen(!open)} aria-expanded={open}>
            {open ? <IconChevronDown size={16} aria-hidden /> : <IconChevronRight size={16} aria-hidden />}
            Former tokens ({former.length})
          </UnstyledButton>
          {open && rows(former, 'Former tokens')}
        </>
      )}
    </Stack>
  );
}

/** Says it before somebody makes a token that nothing accepts. */
function NoAccess() {
  const { account } = usePerson();
  if (account.api_access) return null;
  return (
    <Alert icon={<IconInfoCircle aria-hidden />} title={`The plan “${account.plan}” has no API access`}>
      The API refuses tokens of this account until it is on another plan. An administrator of this server sets plans.
    </Alert>
  );
}
