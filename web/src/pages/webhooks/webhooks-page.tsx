import { Button } from '@mantine/core';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import type { WebhookWithSecret } from '@millrun/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { Page } from '../../parts/page.tsx';
import { RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { webhooksKey, webhooksQuery } from '../../parts/webhooks/queries.ts';
import { SecretDialog } from '../../parts/webhooks/secret-dialog.tsx';
import { NewWebhookDialog } from './new-webhook-dialog.tsx';
import { WebhookRow, webhookColumns } from './webhook-row.tsx';

type Dialog = { kind: 'new' } | { kind: 'made'; webhook: WebhookWithSecret };

/** Height of a row, so that nothing moves when the list comes. */
const rowHeight = 79;

export default function WebhooksPage() {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  const [dialog, setDialog] = useState<Dialog>();
  const list = useQuery(webhooksQuery);
  const onMade = (webhook: WebhookWithSecret) => {
    setDialog({ kind: 'made', webhook });
    void queries.invalidateQueries({ queryKey: webhooksKey });
  };
  const make = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setDialog({ kind: 'new' })}>
      New webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      lead="Your server is called when a run has ended, so that it need not ask."
      {...((list.data?.length ?? 1) > 0 && { actions: make })}
    >
      {list.isPending && <RowSkeleton rows={3} height={rowHeight} />}
      {list.data === undefined && list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.data?.length === 0 && (
        <EmptyState icon={<IconWebhook />} title="No webhooks yet" action={make}>
          Register the address of your server. It gets a signed request when a run is done or has failed; what does not
          arrive is sent again for hours, and you see here what came back.
        </EmptyState>
      )}
      {list.data !== undefined && list.data.length > 0 && (
        <RowList label="Webhooks" columns={webhookColumns}>
          {list.data.toReversed().map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} />
          ))}
        </RowList>
      )}
      {dialog?.kind === 'new' && <NewWebhookDialog onMade={onMade} onClose={() => setDialog(undefined)} />}
      {dialog?.kind === 'made' && (
        <SecretDialog
          title="The webhook is registered"
          secret={dialog.webhook.secret}
          onClose={() => navigate(`/webhooks/${dialog.webhook.id}`)}
        />
      )}
    </Page>
  );
}
