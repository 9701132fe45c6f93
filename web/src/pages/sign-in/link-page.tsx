import { Alert, Anchor, Button, Center, Loader } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { ApiError, call } from '../../api.ts';
import { OwnEmailField } from '../../parts/email-fields.tsx';
import { emailProblem } from '../../parts/email.ts';
import { ErrorState } from '../../parts/error-state.tsx';
import { Form } from '../../parts/form.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { CurrentPasswordField, NewPasswordField } from '../../parts/password-fields.tsx';
import { passwordProblem } from '../../parts/password-strength.ts';
import { useForm } from '../../parts/use-form.ts';
import { sessionQuery } from '../../session.ts';
import type { LinkAnswer, LinkInfo, SessionState } from '../../wire.ts';
import { Frame } from './frame.tsx';
import { useEnter } from './use-enter.ts';

/** Where a one-time link leads. Its secret stands in the fragment, which no server and no log sees. */
export default function LinkPage() {
  const secret = useSecret();
  const info = useQuery({
    queryKey: ['link', secret],
    queryFn: ({ signal }) => call<LinkInfo>('POST', '/account/link', { secret }, signal),
    enabled: secret !== '',
    staleTime: Infinity,
  });
  if (secret === '')
    return (
      <Unusable title="The link is not complete">
        Open it again in full, as you were given it: from its beginning to its last character.
      </Unusable>
    );
  if (info.error instanceof ApiError && info.error.code === 'link_invalid') return <Invalid />;
  if (info.error !== null)
    return (
      <Frame title="One-time link">
        <ErrorState error={info.error} onRetry={() => void info.refetch()} />
      </Frame>
    );
  if (info.data === undefined)
    return (
      <Center mih="60vh">
        <Loader role="status" aria-label="Loading" />
      </Center>
    );
  return <Answer key={secret} secret={secret} info={info.data} />;
}

/** The secret of the address, which then leaves the address bar and the history. */
function useSecret(): string {
  const [secret, setSecret] = useState(() => window.location.hash.slice(1));
  useEffect(() => {
    const read = () => {
      const found = window.location.hash.slice(1);
      if (found === '') return;
      setSecret(found);
      window.history.replaceState(null, '', window.location.pathname);
    };
    read();
    // A second link opened in the same tab changes the fragment alone.
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  return secret;
}

function Answer({ secret, info }: { secret: string; info: LinkInfo }) {
  const { data: session } = useQuery(sessionQuery);
  const [, navigate] = useLocation();
  const [email, setEmail] = useState(info.email ?? '');
  const [password, setPassword] = useState('');
  const [existing, setExisting] = useState(info.existing === true);
  const enter = useEnter();
  const chosen = info.email === undefined;
  const form = useForm({
    check: () => ({
      email: emailProblem(email),
      password: existing ? (password === '' ? 'Enter your password.' : undefined) : passwordProblem(password, email),
    }),
    send: () => accept({ secret, email: email.trim(), password }, existing),
    done: async () => {
      await enter();
      navigate('/tools', { replace: true });
    },
  });
  if (form.error instanceof ApiError && form.error.code === 'link_invalid') return <Invalid />;
  const { title, lead, button } = wordsOf(info, existing);
  return (
    <Frame title={title} lead={lead} below={`The link works once, until ${formatDateTime(info.expires_at)}.`}>
      {session?.person !== undefined && session.person.email !== info.email && (
        <Alert icon={<IconInfoCircle aria-hidden />}>
          You are signed in as {session.person.email}. Going on signs you in as the person of this link instead.
        </Alert>
      )}
      <Form state={form} fields={['email', 'password']}>
        <OwnEmailField value={email} onChange={setEmail} error={form.problems['email']} fixed={!chosen} />
        {existing ? (
          <CurrentPasswordField
            label="Your password"
            value={password}
            onChange={setPassword}
            error={form.problems['password']}
            autoFocus={!chosen}
          />
        ) : (
          <NewPasswordField
            label="New password"
            value={password}
            onChange={setPassword}
            email={email}
            error={form.problems['password']}
            autoFocus={!chosen}
          />
        )}
        <Button type="submit" fullWidth loading={form.busy}>
          {button}
        </Button>
        {info.purpose === 'invitation' && chosen && (
          <Anchor component="button" type="button" size="sm" ta="left" onClick={() => setExisting(!existing)}>
            {existing ? 'I am new here' : 'I have a password here already'}
          </Anchor>
        )}
      </Form>
    </Frame>
  );
}

/** @throws ApiError; a wrong password names its field. */
async function accept(answer: LinkAnswer, existing: boolean): Promise<SessionState> {
  try {
    return await call<SessionState>('POST', '/account/link/accept', answer);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'credentials_invalid')) throw error;
    const text = existing
      ? 'This is not the password of this address.'
      : 'Somebody has this address here already. If it is you, enter the password you have.';
    throw new ApiError(422, { message: text, errors: { password: [text] } });
  }
}

function wordsOf(info: LinkInfo, existing: boolean): { title: string; lead: string; button: string } {
  if (info.purpose === 'first_person')
    return {
      title: 'Welcome to Millrun',
      lead: 'You are the first person here, and become the administrator of this server. Choose how you sign in.',
      button: 'Begin',
    };
  if (info.purpose === 'recovery')
    return { title: 'Choose a new password', lead: 'It replaces the one you had.', button: 'Save and sign in' };
  const how = existing ? 'Sign in with the password you have here.' : 'Choose how you sign in.';
  if (info.account_name === undefined)
    return { title: 'You are invited to Millrun', lead: `You get an account of your own. ${how}`, button: 'Accept' };
  return { title: `Join ${info.account_name}`, lead: `You are invited to this account. ${how}`, button: 'Join' };
}

function Invalid() {
  return (
    <Unusable title="This link does not work">
      A link works once and for a limited time. Ask whoever gave it to you for a new one.
    </Unusable>
  );
}

function Unusable({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Frame title={title} lead={children}>
      <Button component={Link} href="/" variant="default" fullWidth>
        Go to Millrun
      </Button>
    </Frame>
  );
}
