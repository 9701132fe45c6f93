import { Badge, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconUserPlus } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../../api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { showFailure } from '../../parts/failure.ts';
import { formatDate, formatLimit } from '../../parts/format.ts';
import { Cell, Row, RowActions, RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { MadeLinkDialog } from '../../parts/made-link-dialog.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFreshSession, usePerson } from '../../session.ts';
import type { Invitation, MadeLink, Member, MemberRole, Membership } from '../../wire.ts';
import { InviteDialog } from './invite-dialog.tsx';
import { roles } from './roles.ts';

type Dialog =
  | { kind: 'invite' }
  | { kind: 'made'; link: MadeLink; email: string | null }
  | { kind: 'remove'; member: Member }
  | { kind: 'withdraw'; invitation: Invitation };

const membersKey = ['members'];
const columns = 'minmax(0, 1fr) 7.5rem 8rem';

/** Who is in the account and who is asked to be; owners change it, everybody may leave. */
export function Members() {
  const { account } = usePerson();
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>();
  const list = useQuery({
    queryKey: membersKey,
    queryFn: ({ signal }) => call<Membership>('GET', '/account/members', undefined, signal),
  });
  if (list.isPending) return <RowSkeleton rows={1} height={78} />;
  if (list.data === undefined) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  const { members, invitations, most_members } = list.data;
  const reload = () => queries.invalidateQueries({ queryKey: membersKey });
  const close = () => setDialog(undefined);
  const owner = account.role === 'owner';
  return (
    <Stack gap="md">
      <RowList label="Members" columns={columns}>
        {members.map((member) => (
          <MemberRow
            key={member.id}
            member={member}
            alone={members.length === 1}
            onRemove={() => setDialog({ kind: 'remove', member })}
            onChanged={reload}
          />
        ))}
        {invitations.map((invitation) => (
          <InvitationRow
            key={invitation.id}
            invitation={invitation}
            onWithdraw={() => setDialog({ kind: 'withdraw', invitation })}
          />
        ))}
      </RowList>
      {owner && (
        <Group gap="md">
          <Button
            variant="default"
            leftSection={<IconUserPlus size={16} aria-hidden />}
            onClick={() => setDialog({ kind: 'invite' })}
          >
            Invite somebody
          </Button>
          <Text size="sm" c="dimmed">
            {placesLeft(list.data, account.plan)}
          </Text>
        </Group>
      )}
      {dialog?.kind === 'invite' && (
        <InviteDialog
          full={most_members > 0 && members.length + invitations.length >= most_members}
          onMade={(link, email) => {
            setDialog({ kind: 'made', link, email });
            void reload();
          }}
          onClose={close}
        />
      )}
      {dialog?.kind === 'made' && (
        <MadeLinkDialog link={dialog.link} title="The invitation is made" onClose={close}>
          {dialog.email === null
            ? `Whoever opens this link first can join ${account.name}.`
            : `This link lets ${dialog.email} join ${account.name}.`}
        </MadeLinkDialog>
      )}
      {dialog?.kind === 'remove' && <RemoveDialog member={dialog.member} onRemoved={reload} onClose={close} />}
      {dialog?.kind === 'withdraw' && (
        <ConfirmDialog
          title="Withdraw the invitation?"
          confirm="Withdraw it"
          danger
          action={async () => {
            await call('DELETE', `/account/invitations/${dialog.invitation.id}`);
            await reload();
          }}
          onClose={close}
        >
          The link that was given to {dialog.invitation.email ?? 'somebody'} stops working.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function placesLeft({ members, invitations, most_members }: Membership, plan: string): string {
  if (most_members === 0) return '';
  const taken = members.length + invitations.length;
  return `${taken} of ${formatLimit(most_members)} places of the plan “${plan}” are taken.`;
}

interface MemberRowProps {
  member: Member;
  /** Nobody else is here, so there is nothing to change. */
  alone: boolean;
  onRemove: () => void;
  onChanged: () => Promise<void>;
}

function MemberRow({ member, alone, onRemove, onChanged }: MemberRowProps) {
  const { person, account } = usePerson();
  const freshen = useFreshSession();
  const self = member.id === person.id;
  const setRole = useMutation({
    mutationFn: (role: MemberRole) => call<Member>('PATCH', `/account/members/${member.id}`, { role }),
    // Another role of one's own changes what this page shows.
    onSuccess: self ? freshen : onChanged,
    onError: showFailure,
  });
  const owner = account.role === 'owner';
  return (
    <Row>
      <div>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {member.email}
          </Text>
          {self && (
            <Badge variant="dot" tt="none" fw={500}>
              You
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" mt={2}>
          Joined {formatDate(member.joined_at)}
        </Text>
      </div>
      {owner && !alone ? (
        <NativeSelect
          size="xs"
          aria-label={`Role of ${member.email}`}
          data={roles}
          value={setRole.isPending ? setRole.variables : member.role}
          disabled={setRole.isPending}
          onChange={(event) => setRole.mutate(event.currentTarget.value as MemberRole)}
        />
      ) : (
        <Cell name="Role">{roles.find(({ value }) => value === member.role)?.label}</Cell>
      )}
      <RowActions>
        {!alone && (owner || self) && (
          <Button
            size="xs"
            variant="default"
            c="var(--mantine-color-error)"
            onClick={onRemove}
            aria-label={actionLabel(self, member)}
          >
            {self ? 'Leave' : 'Remove'}
          </Button>
        )}
      </RowActions>
    </Row>
  );
}

function actionLabel(self: boolean, { email }: Member): string {
  return self ? 'Leave the account' : `Remove ${email}`;
}

function InvitationRow({ invitation, onWithdraw }: { invitation: Invitation; onWithdraw: () => void }) {
  const who = invitation.email ?? 'Whoever has the link';
  return (
    <Row dimmed>
      <div>
        <Group gap="xs">
          <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
            {who}
          </Text>
          <Badge variant="dot" color="yellow" tt="none" fw={500}>
            Invited
          </Badge>
        </Group>
        <Text size="sm" c="dimmed" mt={2}>
          The link ends <TimeAgo at={invitation.expires_at} />
        </Text>
      </div>
      <Cell name="Role">{roles.find(({ value }) => value === invitation.role)?.label}</Cell>
      <RowActions>
        <Button
          size="xs"
          variant="default"
          c="var(--mantine-color-error)"
          onClick={onWithdraw}
          aria-label={`Withdraw the invitation of ${who}`}
        >
          Withdraw
        </Button>
      </RowActions>
    </Row>
  );
}

interface RemoveDialogProps {
  member: Member;
  onRemoved: () => Promise<void>;
  onClose: () => void;
}

function RemoveDialog({ member, onRemoved, onClose }: RemoveDialogProps) {
  const { person, account, accounts } = usePerson();
  const [, navigate] = useLocation();
  const freshen = useFreshSession();
  const self = member.id === person.id;
  return (
    <ConfirmDialog
      title={self ? `Leave ${account.name}?` : `Remove ${member.email}?`}
      confirm={self ? 'Leave' : 'Remove'}
      danger
      action={async () => {
        await call('DELETE', `/account/members/${member.id}`);
        if (!self) return onRemoved();
        if (accounts.length === 1) await call('DELETE', '/account/session');
        await freshen();
        navigate('/tools');
      }}
      onClose={onClose}
    >
      {self ? 'You lose sight of its runs, files and tokens.' : 'They lose sight of the runs, files and tokens here.'}{' '}
      {self && accounts.length === 1 && 'It is your only account here, so you are signed out.'} Tokens keep working,
      whoever made them: revoke those that should not. To come back, an owner has to invite {self ? 'you' : 'them'}{' '}
      again.
    </ConfirmDialog>
  );
}
