import { Button, Group, Text, TextInput } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { Form } from '../../parts/form.tsx';
import { useForm } from '../../parts/use-form.ts';
import { sessionKey, usePerson } from '../../session.ts';
import type { AccountSummary } from '../../wire.ts';

const longestName = 100;

/** The name and plan of the account; owners change the name. */
export function AccountName() {
  const { account } = usePerson();
  const queries = useQueryClient();
  const [name, setName] = useState(account.name);
  const form = useForm({
    check: () => ({ name: name.trim() === '' ? 'Give it a name.' : undefined }),
    send: () => call<AccountSummary>('PATCH', '/account', { name: name.trim() }),
    done: async (saved) => {
      setName(saved.name);
      await queries.refetchQueries({ queryKey: sessionKey });
      notifications.show({ message: 'The name is saved.' });
    },
  });
  const plan = (
    <Text size="sm" c="dimmed">
      Plan: {account.plan}. An administrator of this server sets it.
    </Text>
  );
  if (account.role !== 'owner')
    return (
      <>
        <Text fw={600}>{account.name}</Text>
        {plan}
      </>
    );
  return (
    <Form state={form} fields={['name']}>
      <Group align="flex-start" gap="xs">
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={form.problems['name']}
          maxLength={longestName}
          autoComplete="off"
          style={{ flex: '1 1 14rem', maxWidth: '26rem' }}
        />
        <Button type="submit" variant="default" loading={form.busy} disabled={name === account.name} mt={25}>
          Save
        </Button>
      </Group>
      {plan}
    </Form>
  );
}
