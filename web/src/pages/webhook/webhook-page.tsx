import { Alert, Button, Skeleton } from '@mantine/core';
import { IconAlertTriangle, IconSend } from '@tabler/icons-react';
import type { Delivery, Webhook } from '@millrun/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, call } from '../../api.ts';
import { BackButton } from '../../parts/back-button.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { showFailure } from '../../parts/failure.ts';
import { Page } from '../../parts/page.tsx';
import { webhookPath, webhookQuery, webhooksKey } from '../../parts/webhooks/queries.ts';
import { Deliveries } from './deliveries.tsx';
import { Settings } from './settings.tsx';

const refreshMs = 10_000;
/** Height of the settings, so that nothing moves when they come. */
const settingsHeight = 343;

export default function WebhookPage({ id }: { id: string }) {
  // A receiver that answers 410 switches the webhook off while somebody looks.
  const webhook = useQuery({ ...webhookQuery(id), refetchInterval: refreshMs });
  if (webhook.data !== undefined) return <Found webhook={webhook.data} />;
  const missing = webhook.error instanceof ApiError && webhook.error.status === 404;
  return (
    <Page title="Webhook" actions={<BackButton href="/webhooks">All webhooks</BackButton>}>
      {webhook.isError ? (
        <ErrorState error={webhook.error} {...(!missing && { onRetry: () => void webhook.refetch() })} />
      ) : (
        <Skeleton height={settingsHeight} />
      )}
    </Page>
  );
}

function Found({ webhook }: { webhook: Webhook }) {
  const queries = useQueryClient();
  const [tested, setTested] = useState<string>();
  const reload = () => queries.invalidateQueries({ queryKey: webhooksKey });
  const test = useMutation({
    mutationFn: () => call<Delivery>('POST', `${webhookPath(webhook.id)}/test`),
    onSuccess: ({ id }) => {
      setTested(id);
      return reload();
    },
    onError: showFailure,
  });
  return (
    <Page
      title={hostOf(webhook.url)}
      lead="Where events go, and what became of them."
      actions={
        <>
          <BackButton href="/webhooks">All webhooks</BackButton>
          <Button
            leftSection={<IconSend size={16} aria-hidden />}
            loading={test.isPending}
            disabled={!webhook.enabled}
            onClick={() => test.mutate()}
          >
            Send a test event
          </Button>
        </>
      }
    >
      <SwitchedOff webhook={webhook} />
      <Settings webhook={webhook} onChange={reload} />
      <Deliveries webhook={webhook} tested={tested} />
    </Page>
  );
}

/** A webhook that nobody but the service has disabled: why, and the way back. */
function SwitchedOff({ webhook }: { webhook: Webhook }) {
  if (webhook.enabled || webhook.disabled_reason === undefined) return null;
  return (
    <Alert color="yellow" icon={<IconAlertTriangle aria-hidden />} title="This webhook was switched off">
      {webhook.disabled_reason} No events are stored for it until you enable it again.
    </Alert>
  );
}

/** The host is what people call a receiver; the whole address stands below. */
function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'Webhook';
}
