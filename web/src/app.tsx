import { Button, Center, Loader, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { Redirect, Route, Switch } from 'wouter';
import { ApiError, call } from './api.ts';
import { ErrorState } from './parts/error-state.tsx';
import { sessionQuery, useFreshSession } from './session.ts';
import { Shell } from './shell.tsx';

const SignInPage = lazy(() => import('./pages/sign-in/sign-in-page.tsx'));
const SignUpPage = lazy(() => import('./pages/sign-in/sign-up-page.tsx'));
const LinkPage = lazy(() => import('./pages/sign-in/link-page.tsx'));
const ToolsPage = lazy(() => import('./pages/tools/tools-page.tsx'));
const ToolPage = lazy(() => import('./pages/tool/tool-page.tsx'));
const RunsPage = lazy(() => import('./pages/runs/runs-page.tsx'));
const RunPage = lazy(() => import('./pages/run/run-page.tsx'));
const TokensPage = lazy(() => import('./pages/tokens/tokens-page.tsx'));
const WebhooksPage = lazy(() => import('./pages/webhooks/webhooks-page.tsx'));
const WebhookPage = lazy(() => import('./pages/webhook/webhook-page.tsx'));
const UsagePage = lazy(() => import('./pages/usage/usage-page.tsx'));
const QuickStartPage = lazy(() => import('./pages/quick-start/quick-start-page.tsx'));
const AccountPage = lazy(() => import('./pages/account/account-page.tsx'));
const AdminPage = lazy(() => import('./pages/admin/admin-page.tsx'));
const NotFoundPage = lazy(() => import('./pages/not-found/not-found-page.tsx'));

/** Every address of the page. The server answers the same ones (`server/src/http/routes/page.ts`). */
export function App() {
  const session = useQuery(sessionQuery);
  if (session.data === undefined)
    return session.isError ? <Shut error={session.error} onRetry={() => void session.refetch()} /> : <Waiting />;
  return (
    <Suspense fallback={<Waiting />}>
      <Switch>
        <Route path="/link" component={LinkPage} />
        {session.data.person === undefined ? <SignedOut /> : <SignedIn admin={session.data.person.admin} />}
      </Switch>
    </Suspense>
  );
}

function SignedOut() {
  return (
    <Switch>
      <Route path="/sign-up" component={SignUpPage} />
      <Route component={SignInPage} />
    </Switch>
  );
}

function SignedIn({ admin }: { admin: boolean }) {
  return (
    <Shell>
      <Suspense fallback={<Waiting />}>
        <Switch>
          <Route path="/">
            <Redirect to="/tools" replace />
          </Route>
          <Route path="/sign-in">
            <Redirect to="/tools" replace />
          </Route>
          <Route path="/sign-up">
            <Redirect to="/tools" replace />
          </Route>
          <Route path="/tools" component={ToolsPage} />
          <Route path="/tools/:slug">{({ slug }) => <ToolPage key={slug} slug={slug} />}</Route>
          <Route path="/runs" component={RunsPage} />
          <Route path="/runs/:id">{({ id }) => <RunPage key={id} id={id} />}</Route>
          <Route path="/tokens" component={TokensPage} />
          <Route path="/webhooks" component={WebhooksPage} />
          <Route path="/webhooks/:id">{({ id }) => <WebhookPage key={id} id={id} />}</Route>
          <Route path="/usage" component={UsagePage} />
          <Route path="/quick-start" component={QuickStartPage} />
          <Route path="/settings" component={AccountPage} />
          {admin && <Route path="/admin" component={AdminPage} />}
          <Route component={NotFoundPage} />
        </Switch>
      </Suspense>
    </Shell>
  );
}

/** Nobody can be shown anything: the service is away, or the person is in no account any more. */
function Shut({ error, onRetry }: { error: Error; onRetry: () => void }) {
  const freshen = useFreshSession();
  const outside = error instanceof ApiError && error.code === 'no_account';
  const signOut = () => call('DELETE', '/account/session').then(freshen, onRetry);
  return (
    <Center component="main" mih="60vh" p="md">
      <Stack maw="32rem">
        <ErrorState error={error} onRetry={onRetry} />
        {outside && (
          <Button variant="default" onClick={() => void signOut()}>
            Sign out
          </Button>
        )}
      </Stack>
    </Center>
  );
}

function Waiting() {
  return (
    <Center mih="60vh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}
