import { Button, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { Form } from '../../parts/form.tsx';
import { CurrentPasswordField, NewPasswordField } from '../../parts/password-fields.tsx';
import { passwordProblem } from '../../parts/password-strength.ts';
import { useForm } from '../../parts/use-form.ts';
import { sessionQuery, usePerson } from '../../session.ts';
import { devicesKey } from './devices.tsx';

export function PasswordForm() {
  const { person } = usePerson();
  const { data: session } = useQuery(sessionQuery);
  if (!person.has_password)
    return (
      <Text size="sm">
        You sign in with {session?.oidc ?? 'the operator’s provider'}. There is no password here to change.
      </Text>
    );
  return <Change email={person.email} />;
}

function Change({ email }: { email: string }) {
  const queries = useQueryClient();
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const form = useForm({
    check: () => ({
      current_password: current === '' ? 'Enter the password you have.' : undefined,
      new_password: passwordProblem(next, email),
    }),
    send: () => call('POST', '/account/password', { current_password: current, new_password: next }),
    done: () => {
      setCurrent('');
      setNext('');
      notifications.show({ message: 'The password is changed. Your other devices are signed out.' });
      void queries.invalidateQueries({ queryKey: devicesKey });
    },
  });
  return (
    <Form state={form} fields={['current_password', 'new_password']}>
      {/* A password manager learns from it whose password this is. */}
      <input type="text" name="username" autoComplete="username" value={email} readOnly hidden />
      <Stack gap="md" maw="26rem">
        <CurrentPasswordField
          label="Current password"
          value={current}
          onChange={setCurrent}
          error={form.problems['current_password']}
        />
        <NewPasswordField
          label="New password"
          value={next}
          onChange={setNext}
          email={email}
          error={form.problems['new_password']}
        />
        <Button type="submit" variant="default" loading={form.busy} style={{ alignSelf: 'flex-start' }}>
          Change the password
        </Button>
      </Stack>
    </Form>
  );
}
