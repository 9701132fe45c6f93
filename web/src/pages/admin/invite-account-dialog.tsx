import { NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { InvitedEmailField } from '../../parts/email-fields.tsx';
import { emailProblem } from '../../parts/email.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useForm } from '../../parts/use-form.ts';
import type { AdminSettings, MadeLink } from '../../wire.ts';

interface InviteAccountDialogProps {
  settings: AdminSettings;
  onMade: (link: MadeLink, email: string | null) => void;
  onClose: () => void;
}

/** Asks who gets a new account, and on which plan. Mount it to open it. */
export function InviteAccountDialog({ settings, onMade, onClose }: InviteAccountDialogProps) {
  const [email, setEmail] = useState('');
  const [plan, setPlan] = useState(settings.default_plan);
  const fixed = email.trim() === '' ? null : email.trim();
  const form = useForm({
    check: () => ({ email: fixed === null ? undefined : emailProblem(fixed) }),
    send: () => call<MadeLink>('POST', '/account/admin/invitations', { email: fixed, plan }),
    done: (link) => onMade(link, fixed),
  });
  return (
    <FormDialog
      title="Invite to a new account"
      state={form}
      fields={['email', 'plan']}
      submit="Make the link"
      onClose={onClose}
    >
      <InvitedEmailField value={email} onChange={setEmail} error={form.problems['email']} />
      <NativeSelect
        label="Plan"
        data={settings.plans.map(({ name }) => name)}
        value={plan}
        onChange={(event) => setPlan(event.currentTarget.value)}
        error={form.problems['plan']}
      />
    </FormDialog>
  );
}
