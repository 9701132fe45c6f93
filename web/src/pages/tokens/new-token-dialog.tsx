import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { call } from '../../api.ts';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { formatDate } from '../../parts/format.ts';
import { useForm } from '../../parts/use-form.ts';
import type { MadeToken, NewToken } from '../../wire.ts';
import { dayOf, expiryOf, presetDays, type Expiry } from './token-state.ts';

interface NewTokenDialogProps {
  onMade: (token: MadeToken) => void;
  onClose: () => void;
}

const longestName = 100;
const dayMs = 86_400_000;

/** Asks for what a token needs. Mount it to open it. */
export function NewTokenDialog({ onMade, onClose }: NewTokenDialogProps) {
  const [opened] = useState(() => Date.now());
  const [name, setName] = useState('');
  const [expiry, setExpiry] = useState<Expiry>('90');
  const [date, setDate] = useState(() => dayOf(opened + 180 * dayMs));
  const form = useForm({
    check: () => ({ name: nameProblem(name), expires_at: dateProblem(expiry, date) }),
    send: () =>
      call<MadeToken>('POST', '/account/tokens', {
        name: name.trim(),
        expires_at: expiryOf(expiry, date, Date.now()) ?? null,
      } satisfies NewToken),
    done: onMade,
  });
  const onDate = expiry === 'date';
  return (
    <FormDialog
      title="New API token"
      state={form}
      fields={['name', 'expires_at']}
      submit="Make the token"
      onClose={onClose}
    >
      <TextInput
        label="Name"
        description="What will use it, such as: build server."
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={form.problems['name']}
        maxLength={longestName}
        data-autofocus
        autoComplete="off"
      />
      <NativeSelect
        label="Expires"
        value={expiry}
        onChange={(event) => setExpiry(event.currentTarget.value as Expiry)}
        error={onDate ? undefined : form.problems['expires_at']}
        data={[
          ...presetDays.map((days) => ({ value: String(days), label: presetLabel(days, opened) })),
          { value: 'date', label: 'At the end of a day I choose' },
          { value: 'never', label: 'Never' },
        ]}
      />
      {onDate && (
        <TextInput
          type="date"
          label="Last day"
          value={date}
          min={dayOf(opened)}
          onChange={(event) => setDate(event.currentTarget.value)}
          error={form.problems['expires_at']}
        />
      )}
    </FormDialog>
  );
}

function presetLabel(days: number, now: number): string {
  const words = days === 365 ? 'In a year' : `In ${days} days`;
  return `${words}, on ${formatDate(new Date(now + days * dayMs).toISOString())}`;
}

function nameProblem(name: string): string | undefined {
  return name.trim() === '' ? 'Give it a name.' : undefined;
}

function dateProblem(expiry: Expiry, date: string): string | undefined {
  const at = expiryOf(expiry, date, Date.now());
  if (at === undefined) return 'Choose a day.';
  return at !== null && Date.parse(at) <= Date.now() ? 'Choose today or a later day.' : undefined;
}
