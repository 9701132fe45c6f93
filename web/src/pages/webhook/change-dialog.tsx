import type { Webhook } from '@millrun/sdk';
import { useState } from 'react';
import { call } from '../../api.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useForm } from '../../parts/use-form.ts';
import { checkDraft, WebhookFields, webhookFields, type WebhookDraft } from '../../parts/webhooks/fields.tsx';
import { webhookPath } from '../../parts/webhooks/queries.ts';

interface ChangeDialogProps {
  webhook: Webhook;
  onChange: () => Promise<unknown>;
  onClose: () => void;
}

/** Changes where events go, and which. Mount it to open it. */
export function ChangeDialog({ webhook, onChange, onClose }: ChangeDialogProps) {
  const [draft, setDraft] = useState<WebhookDraft>({ url: webhook.url, events: webhook.events });
  const form = useForm({
    check: () => checkDraft(draft),
    send: () => call<Webhook>('PATCH', webhookPath(webhook.id), { url: draft.url.trim(), events: draft.events }),
    done: async () => {
      await onChange();
      onClose();
    },
  });
  return (
    <FormDialog title="Change the webhook" state={form} fields={webhookFields} submit="Save" onClose={onClose}>
      <WebhookFields draft={draft} problems={form.problems} onChange={setDraft} />
    </FormDialog>
  );
}
