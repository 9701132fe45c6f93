import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { showFailure } from '../../parts/failure.ts';
import { formatDate } from '../../parts/format.ts';
import { Cell, Row, RowActions, RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { useFreshSession } from '../../session.ts';
import type { SignedInDevice } from '../../wire.ts';
import { deviceName } from './device-name.ts';

export const devicesKey = ['devices'];

/** The sessions of the person, each of which can be ended. */
export function Devices() {
  const [asking, setAsking] = useState(false);
  const freshen = useFreshSession();
  const list = useQuery({
    queryKey: devicesKey,
    queryFn: ({ signal }) => call<{ data: SignedInDevice[] }>('GET', '/account/devices', undefined, signal),
  });
  if (list.isPending) return <RowSkeleton rows={2} height={78} />;
  if (list.data === undefined) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  return (
    <Stack gap="md" align="stretch">
      <RowList label="Devices" columns="minmax(0, 1fr) 9rem 7rem">
        {list.data.data.map((device) => (
          <Device key={device.id} device={device} />
        ))}
      </RowList>
      <Button variant="default" onClick={() => setAsking(true)} style={{ alignSelf: 'flex-start' }}>
        Sign out everywhere
      </Button>
      {asking && (
        <ConfirmDialog
          title="Sign out everywhere?"
          confirm="Sign out everywhere"
          action={async () => {
            await call('DELETE', '/account/devices');
            await freshen();
          }}
          onClose={() => setAsking(false)}
        >
          All devices are signed out at once, this one too. API tokens keep working.
        </ConfirmDialog>
      )}
    </Stack>
  );
}

function Device({ device }: { device: SignedInDevice }) {
  const queries = useQueryClient();
  const signOut = useMutation({
    mutationFn: () => call('DELETE', `/account/devices/${device.id}`),
    onSuccess: () => queries.invalidateQueries({ queryKey: devicesKey }),
    onError: showFailure,
  });
  const name = deviceName(device.user_agent);
  return (
    <Row>
      <div>
        <Group gap="xs">
          <Text fw={600} lineClamp={2} title={device.user_agent}>
            {name}
          </Text>
          {device.current && (
            <Badge variant="dot" tt="none" fw={500}>
              This device
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" mt={2}>
          {device.address === '' ? '' : `From ${device.address}, `}since {formatDate(device.created_at)}
        </Text>
      </div>
      <Cell name="Last seen">
        <TimeAgo at={device.last_seen_at} />
      </Cell>
      <RowActions>
        {!device.current && (
          <Button
            size="xs"
            variant="default"
            loading={signOut.isPending}
            onClick={() => signOut.mutate()}
            aria-label={`Sign out ${name}`}
          >
            Sign out
          </Button>
        )}
      </RowActions>
    </Row>
  );
}
