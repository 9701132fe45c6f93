import { Button, Code, Stack, Switch, Text } from '@mantine/core';
import type { Webhook, WebhookWithSecret } from '@millrun/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../../api.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { showFailure } from '../../parts/failure.ts';
import { formatDate } from '../../parts/format.ts';
import { Row, RowActions, RowList } from '../../parts/row-list.tsx';
import { webhookEvents } from '../../parts/webhooks/events.ts';
import { webhookPath, webhooksQuery } from '../../parts/webhooks/queries.ts';
import { SecretDialog } from '../../parts/webhooks/secret-dialog.tsx';
import { ChangeDialog } from './change-dialog.tsx';
import classes from './webhook.module.css';

interface SettingsProps {
  webhook: Webhook;
  /** Loads it again after a change. */
  onChange: () => Promise<unknown>;
}

type Dialog = 'change' | 'disable' | 'rotate' | 'remove' | { secret: string };

/** What a webhook is and what can be done with it. */
export function Settings({ webhook, onChange }: SettingsProps) {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<Dialog>();
  const close = () => setDialog(undefined);
  const path = webhookPath(webhook.id);
  return (
    <>
      <RowList label="Settings" columns="7rem minmax(0, 1fr) 10rem">
        <Row>
          <Name>URL</Name>
          <div className={classes['url']}>
            <bdi>{webhook.url}</bdi>
            <CopyButton value={webhook.url} what="the URL" />
          </div>
          <RowActions>
            <Button size="xs" variant="default" onClick={() => setDialog('change')}>
              Change
            </Button>
          </RowActions>
        </Row>
        <Row>
          <Name>Events</Name>
          <Events webhook={webhook} />
        </Row>
        <Row>
          <Name>State</Name>
          <Text size="sm">
            {webhook.enabled
              ? 'Events are sent.'
              : 'No events are stored or sent for it. What was pending has failed or will.'}
          </Text>
          <RowActions>
            <Enabled webhook={webhook} onChange={onChange} onDisable={() => setDialog('disable')} />
          </RowActions>
        </Row>
        <Row>
          <Name>Secret</Name>
          <Text size="sm">Signs every event. It was shown once; a new one can be made.</Text>
          <RowActions>
            <Button size="xs" variant="default" onClick={() => setDialog('rotate')}>
              Rotate
            </Button>
          </RowActions>
        </Row>
        <Row>
          <Name>Registered</Name>
          <Text size="sm">{formatDate(webhook.created_at)}</Text>
          <RowActions>
            <Button size="xs" variant="subtle" color="red" onClick={() => setDialog('remove')}>
              Remove
            </Button>
          </RowActions>
        </Row>
      </RowList>
      {dialog === 'change' && <ChangeDialog webhook={webhook} onChange={onChange} onClose={close} />}
      {dialog === 'disable' && (
        <ConfirmDialog
          title="Disable this webhook?"
          confirm="Disable it"
          action={async () => {
            await call('PATCH', path, { enabled: false });
            await onChange();
          }}
          onClose={close}
        >
          Events that happen while it is disabled are not stored and are never sent, and pending deliveries fail. You
          can enable it again at any time.
        </ConfirmDialog>
      )}
      {dialog === 'rotate' && (
        <ConfirmDialog
          title="Rotate the secret?"
          confirm="Make a new secret"
          action={() => call<WebhookWithSecret>('POST', `${path}/rotate-secret`)}
          onDone={({ secret }) => setDialog({ secret })}
          onClose={close}
        >
          For 24 hours every event is signed with both, the new secret and the present one, so that your server never
          refuses one while you replace it. After that the present secret is worth nothing. A secret that was rotated
          before stops at once.
        </ConfirmDialog>
      )}
      {typeof dialog === 'object' && (
        <SecretDialog title="Your new signing secret" secret={dialog.secret} onClose={close} />
      )}
      {dialog === 'remove' && (
        <ConfirmDialog
          title="Remove this webhook?"
          confirm="Remove it"
          danger
          action={() => call('DELETE', path)}
          onDone={() => {
            queries.setQueryData(webhooksQuery.queryKey, (list) => list?.filter(({ id }) => id !== webhook.id));
            navigate('/webhooks');
          }}
          onClose={close}
        >
          {webhook.url} is not called any more, and the record of its deliveries is deleted. This cannot be undone.
        </ConfirmDialog>
      )}
    </>
  );
}

function Name({ children }: { children: string }) {
  return (
    <Text size="sm" c="dimmed">
      {children}
    </Text>
  );
}

function Events({ webhook }: { webhook: Webhook }) {
  const subscribed = webhookEvents.filter(({ value }) => webhook.events.includes(value));
  return (
    <Stack gap={4}>
      {subscribed.map(({ value, label }) => (
        <Text key={value} size="sm">
          {label} <Code>{value}</Code>
        </Text>
      ))}
    </Stack>
  );
}

/** Enabling is harmless and done at once; disabling loses events, so it is asked about. */
function Enabled({ webhook, onChange, onDisable }: SettingsProps & { onDisable: () => void }) {
  const enable = useMutation({
    mutationFn: () => call<Webhook>('PATCH', webhookPath(webhook.id), { enabled: true }),
    onSuccess: onChange,
    onError: showFailure,
  });
  return (
    <Switch
      label="Enabled"
      labelPosition="left"
      checked={webhook.enabled || enable.isPending}
      disabled={enable.isPending}
      onChange={() => (webhook.enabled ? onDisable() : enable.mutate())}
    />
  );
}
