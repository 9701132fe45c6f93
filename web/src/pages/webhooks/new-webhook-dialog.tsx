import type { WebhookWithSecret } from '@millrun/sdk';
import { useState } from 'react';
import { apiPrefix, call } from '../../api.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useForm } from '../../parts/use-form.ts';
import { checkDraft, WebhookFields, webhookFields, type WebhookDraft } from '../../parts/webhooks/fields.tsx';

interface NewWebhookDialogProps {
  onMade: (webhook: WebhookWithSecret) => void;
  onClose: () => void;
}

/** Asks for what a webhook needs. Mount it to open it. */
export function NewWebhookDialog({ onMade, onClose }: NewWebhookDialogProps) {
  const [draft, setDraft] = useState<WebhookDraft>({ url: '', events: ['run.completed', 'run.failed'] });
  const form = useForm({
    check: () => checkDraft(draft),
    send: () =>
      call<WebhookWithSecret>('POST', `${apiPrefix}/webhooks`, { url: draft.url.trim(), events: draft.events }),
    done: onMade,
  });
  return (
    <FormDialog title="New webhook" state={form} fields={webhookFields} submit="Register" onClose={onClose}>
      <WebhookFields draft={draft} problems={form.problems} onChange={setDraft} />
    </FormDialog>
  );
}
