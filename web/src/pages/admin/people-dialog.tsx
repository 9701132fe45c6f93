import { Badge, Button, Group, Modal, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { formatDate } from '../../parts/format.ts';
import { MadeLinkDialog } from '../../parts/made-link-dialog.tsx';
import { Row, RowActions, RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { sessionKey, usePerson } from '../../session.ts';
import type { AdminAccount, MadeLink, Member } from '../../wire.ts';

type AccountPerson = Member & { admin: boolean };

type Dialog =
  | { kind: 'recover'; person: AccountPerson }
  | { kind: 'made'; person: AccountPerson; link: MadeLink }
  | { kind: 'admin'; person: AccountPerson };

/** The people of an account: recovery links, and who is an administrator. Mount it to open it. */
export function PeopleDialog({ account, onClose }: { account: AdminAccount; onClose: () => void }) {
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>();
  const peopleKey = ['admin', 'people', account.id];
  const list = useQuery({
    queryKey: peopleKey,
    queryFn: ({ signal }) =>
      call<{ data: AccountPerson[] }>('GET', `/account/admin/accounts/${account.id}/people`, undefined, signal),
  });
  const back = () => setDialog(undefined);
  if (dialog?.kind === 'made')
    return (
      <MadeLinkDialog link={dialog.link} title="The recovery link is made" onClose={back}>
        {`This link lets ${dialog.person.email} choose a new password.`}
      </MadeLinkDialog>
    );
  if (dialog?.kind === 'admin')
    return (
      <AdminDialog
        person={dialog.person}
        onChanged={async () => {
          await queries.invalidateQueries({ queryKey: peopleKey });
          await queries.invalidateQueries({ queryKey: sessionKey });
        }}
        onClose={back}
      />
    );
  if (dialog?.kind === 'recover')
    return (
      <ConfirmDialog
        title="Make a recovery link?"
        confirm="Make the link"
        action={() => call<MadeLink>('POST', `/account/admin/people/${dialog.person.id}/recovery`)}
        onDone={(link) => setDialog({ kind: 'made', person: dialog.person, link })}
        onClose={back}
      >
        Whoever has the link can choose a new password for <strong>{dialog.person.email}</strong> and sign in as them.
        Make sure that it is them who asks.
      </ConfirmDialog>
    );
  return (
    <Modal opened onClose={onClose} title={`People of ${account.name}`} size="xl">
      {list.isPending && <RowSkeleton rows={1} height={78} />}
      {list.data === undefined && list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.data.length === 0 && (
        <Text c="dimmed">Nobody can sign in to this account. Its tokens work all the same.</Text>
      )}
      {list.data !== undefined && list.data.data.length > 0 && (
        <RowList label="People" columns="minmax(0, 1fr) 20rem">
          {list.data.data.map((person) => (
            <PersonRow
              key={person.id}
              person={person}
              onRecover={() => setDialog({ kind: 'recover', person })}
              onAdmin={() => setDialog({ kind: 'admin', person })}
            />
          ))}
        </RowList>
      )}
    </Modal>
  );
}

interface PersonRowProps {
  person: AccountPerson;
  onRecover: () => void;
  onAdmin: () => void;
}

function PersonRow({ person, onRecover, onAdmin }: PersonRowProps) {
  return (
    <Row>
      <div>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {person.email}
          </Text>
          {person.admin && (
            <Badge variant="dot" tt="none" fw={500}>
              Administrator
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" mt={2}>
          {person.role === 'owner' ? 'Owner' : 'Member'}, joined {formatDate(person.joined_at)}
        </Text>
      </div>
      <RowActions>
        <Button size="xs" variant="default" onClick={onRecover} aria-label={`Recovery link for ${person.email}`}>
          Recovery link
        </Button>
        <Button
          size="xs"
          variant="default"
          {...(person.admin ? { c: 'var(--mantine-color-error)' } : {})}
          onClick={onAdmin}
          aria-label={person.admin ? `Take administration from ${person.email}` : `Make administrator: ${person.email}`}
        >
          {person.admin ? 'Take administration' : 'Make administrator'}
        </Button>
      </RowActions>
    </Row>
  );
}

interface AdminDialogProps {
  person: AccountPerson;
  onChanged: () => Promise<void>;
  onClose: () => void;
}

function AdminDialog({ person, onChanged, onClose }: AdminDialogProps) {
  const self = usePerson().person.id === person.id;
  const change = async () => {
    await call('PATCH', `/account/admin/people/${person.id}`, { admin: !person.admin });
    await onChanged();
  };
  if (!person.admin)
    return (
      <ConfirmDialog title="Make an administrator?" confirm="Make administrator" action={change} onClose={onClose}>
        <strong>{person.email}</strong> will see every account, set plans, make recovery links and appoint
        administrators.
      </ConfirmDialog>
    );
  return (
    <ConfirmDialog title="Take administration away?" confirm="Take it away" danger action={change} onClose={onClose}>
      {self ? 'You no longer see' : <strong>{person.email}</strong>}
      {self
        ? ' this page. Another administrator has to give it back to you.'
        : ' no longer sees other accounts or sets plans.'}
    </ConfirmDialog>
  );
}
