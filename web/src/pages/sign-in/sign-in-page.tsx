import { Alert, Anchor, Button, Code, Stack } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { call } from '../../api.ts';
import { OwnEmailField } from '../../parts/email-fields.tsx';
import { emailProblem } from '../../parts/email.ts';
import { Form } from '../../parts/form.tsx';
import { CurrentPasswordField } from '../../parts/password-fields.tsx';
import { useForm } from '../../parts/use-form.ts';
import { sessionQuery } from '../../session.ts';
import type { Credentials, SessionState } from '../../wire.ts';
import { Frame } from './frame.tsx';
import classes from './frame.module.css';
import { OidcButton } from './oidc-button.tsx';
import { providerProblem } from './provider-problem.ts';
import { useEnter } from './use-enter.ts';

export default function SignInPage() {
  const { data: session } = useQuery(sessionQuery);
  const [search] = useSearchParams();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const enter = useEnter();
  const form = useForm({
    check: () => ({
      email: emailProblem(email),
      password: password === '' ? 'Enter your password.' : undefined,
    }),
    send: () => call<SessionState>('POST', '/account/session', { email: email.trim(), password } satisfies Credentials),
    done: enter,
  });
  const refusal = search.get('error');
  const provider = session?.oidc ?? null;
  return (
    <Frame
      title="Sign in"
      below={
        <Stack gap="sm">
          {session?.open_sign_up === true && (
            <div>
              New here?{' '}
              <Anchor component={Link} href="/sign-up" inherit underline="always">
                Make an account
              </Anchor>
            </div>
          )}
          <Forgotten />
        </Stack>
      }
    >
      {refusal !== null && form.error === null && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert">
          {providerProblem(refusal, provider ?? 'the provider')}
        </Alert>
      )}
      {provider !== null && <OidcButton provider={provider} />}
      <Form state={form} fields={['email', 'password']}>
        <OwnEmailField value={email} onChange={setEmail} error={form.problems['email']} />
        <CurrentPasswordField
          label="Password"
          value={password}
          onChange={setPassword}
          error={form.problems['password']}
        />
        <Button type="submit" fullWidth loading={form.busy}>
          Sign in
        </Button>
      </Form>
    </Frame>
  );
}

function Forgotten() {
  return (
    <details className={classes['forgot']}>
      <summary>Forgot your password?</summary>
      <p>
        Ask the operator of this server for a recovery link, or run{' '}
        <Code>npx millrun account link --email you@example.com</Code> on it.
      </p>
    </details>
  );
}
