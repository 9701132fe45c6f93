import { Alert, NativeSelect } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { InvitedEmailField } from '../../parts/email-fields.tsx';
import { emailProblem } from '../../parts/email.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { useForm } from '../../parts/use-form.ts';
import type { MadeLink, MemberRole } from '../../wire.ts';
import { roles } from './roles.ts';

interface InviteDialogProps {
  /** The plan has no place left, as far as this page knows. */
  full: boolean;
  onMade: (link: MadeLink, email: string | null) => void;
  onClose: () => void;
}

/** Asks whom to invite into the account. Mount it to open it. */
export function InviteDialog({ full, onMade, onClose }: InviteDialogProps) {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('member');
  const fixed = email.trim() === '' ? null : email.trim();
  const form = useForm({
    check: () => ({ email: fixed === null ? undefined : emailProblem(fixed) }),
    send: () => call<MadeLink>('POST', '/account/invitations', { email: fixed, role }),
    done: (link) => onMade(link, fixed),
  });
  return (
    <FormDialog
      title="Invite somebody"
      state={form}
      fields={['email', 'role']}
      submit="Make the link"
      onClose={onClose}
    >
      {full && form.error === null && (
        <Alert color="yellow">The plan has no place left. An administrator of this server can set another plan.</Alert>
      )}
      <InvitedEmailField value={email} onChange={setEmail} error={form.problems['email']} />
      <NativeSelect
        label="Role"
        data={roles}
        value={role}
        onChange={(event) => setRole(event.currentTarget.value as MemberRole)}
        error={form.problems['role']}
      />
    </FormDialog>
  );
}
