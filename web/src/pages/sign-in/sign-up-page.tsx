import { Anchor, Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ApiError, call } from '../../api.ts';
import { OwnEmailField } from '../../parts/email-fields.tsx';
import { emailProblem } from '../../parts/email.ts';
import { Form } from '../../parts/form.tsx';
import { NewPasswordField } from '../../parts/password-fields.tsx';
import { passwordProblem } from '../../parts/password-strength.ts';
import { useForm } from '../../parts/use-form.ts';
import { sessionQuery } from '../../session.ts';
import type { Credentials, SessionState } from '../../wire.ts';
import { Frame } from './frame.tsx';
import { OidcButton } from './oidc-button.tsx';
import { useEnter } from './use-enter.ts';

export default function SignUpPage() {
  const { data: session } = useQuery(sessionQuery);
  if (session?.open_sign_up !== true) return <Closed />;
  return (
    <Frame
      title="Make an account"
      below={
        <>
          You have one already?{' '}
          <Anchor component={Link} href="/sign-in" inherit underline="always">
            Sign in
          </Anchor>
        </>
      }
    >
      {session.oidc !== null && <OidcButton provider={session.oidc} />}
      <SignUpForm />
    </Frame>
  );
}

function SignUpForm() {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const enter = useEnter();
  const form = useForm({
    check: () => ({ email: emailProblem(email), password: passwordProblem(password, email) }),
    send: () => signUp({ email: email.trim(), password }),
    done: enter,
  });
  return (
    <Form state={form} fields={['email', 'password']}>
      <OwnEmailField value={email} onChange={setEmail} error={form.problems['email']} />
      <NewPasswordField
        label="Password"
        value={password}
        onChange={setPassword}
        email={email}
        error={form.problems['password']}
      />
      <Button type="submit" fullWidth loading={form.busy}>
        Make the account
      </Button>
    </Form>
  );
}

/** Signs up and in. Whether the address was free, only the second step tells, and only who knows its password. */
async function signUp(credentials: Credentials): Promise<SessionState> {
  await call('POST', '/account/sign-up', credentials);
  try {
    return await call<SessionState>('POST', '/account/session', credentials);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'credentials_invalid')) throw error;
    throw new Error(
      'This address cannot be used with this password. If it is yours, sign in with the password you have, or ask the operator of this server for a recovery link.',
      { cause: error },
    );
  }
}

function Closed() {
  return (
    <Frame
      title="Sign-up is closed"
      lead="New people come in by invitation here. Ask the operator of this server for a link."
    >
      <Button component={Link} href="/sign-in" variant="default" fullWidth>
        Sign in
      </Button>
    </Frame>
  );
}
