import { Button, Stack, Text } from '@mantine/core';
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { call } from '../../api.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { Row, RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { AuditAction, AuditEntry, AuditPage } from '../../wire.ts';

const auditKey = ['audit'];
const pageSize = 25;

/** What was done, to read between who did it and to what. */
const deeds: Record<AuditAction, string> = {
  'account.created': 'made the account',
  'account.renamed': 'named the account',
  'account.plan_set': 'set the plan to',
  'person.signed_in': 'signed in',
  'person.signed_out_everywhere': 'signed out everywhere',
  'person.password_changed': 'changed the password',
  'person.recovered': 'chose a new password with a recovery link',
  'token.created': 'made the token',
  'token.rotated': 'rotated the token',
  'token.revoked': 'revoked the token',
  'member.invited': 'invited',
  'member.joined': 'joined the account',
  'member.role_set': 'set the role of',
  'member.removed': 'removed the member',
  'invitation.withdrawn': 'withdrew the invitation of',
  'webhook.registered': 'registered the webhook',
  'webhook.changed': 'changed the webhook',
  'webhook.secret_rotated': 'made a new secret for the webhook',
  'webhook.removed': 'removed the webhook',
};

/** Everything that was done in the account, older entries on demand. */
export function AuditLog() {
  useFreshLog();
  const log = useInfiniteQuery({
    queryKey: auditKey,
    queryFn: ({ pageParam, signal }) => {
      const cursor = pageParam === null ? '' : `&cursor=${encodeURIComponent(pageParam)}`;
      return call<AuditPage>('GET', `/account/audit?limit=${pageSize}${cursor}`, undefined, signal);
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  if (log.isPending) return <RowSkeleton rows={6} height={66} />;
  if (log.data === undefined) return <ErrorState error={log.error} onRetry={() => void log.refetch()} />;
  const entries = log.data.pages.flatMap(({ data }) => data);
  if (entries.length === 0)
    return (
      <Text size="sm" c="dimmed">
        Nothing yet. What is done with tokens, members and webhooks will stand here.
      </Text>
    );
  return (
    <Stack gap="md">
      <RowList label="Audit log" columns="minmax(0, 1fr) 8rem">
        {entries.map((entry) => (
          <Entry key={entry.id} entry={entry} />
        ))}
      </RowList>
      {log.isFetchNextPageError && <ErrorState error={log.error} />}
      {log.hasNextPage && (
        <Button
          variant="default"
          loading={log.isFetchingNextPage}
          onClick={() => void log.fetchNextPage()}
          style={{ alignSelf: 'flex-start' }}
        >
          Show older entries
        </Button>
      )}
    </Stack>
  );
}

/** What is done on this page stands in the log at once. */
function useFreshLog(): void {
  const queries = useQueryClient();
  useEffect(
    () =>
      queries.getMutationCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'success')
          void queries.invalidateQueries({ queryKey: auditKey });
      }),
    [queries],
  );
}

function Entry({ entry }: { entry: AuditEntry }) {
  const own = entry.subject === entry.actor;
  const deed = own && entry.action === 'member.removed' ? 'left the account' : (deeds[entry.action] ?? entry.action);
  return (
    <Row>
      <div>
        <Text size="sm">
          {actorName(entry.actor)} {deed} {!own && <strong>{entry.subject}</strong>}
        </Text>
        <Text size="xs" c="dimmed" mt={2}>
          {formatDateTime(entry.at)}
          {entry.address !== '' && `, from ${entry.address}`}
        </Text>
      </div>
      <Text size="sm" c="dimmed" component="div">
        <TimeAgo at={entry.at} />
      </Text>
    </Row>
  );
}

function actorName(actor: string): string {
  if (actor === 'command line') return 'The command line';
  return actor.replace(/^token (.*)$/s, 'The token “$1”');
}
