import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiError } from './api.ts';
import { App } from './app.tsx';
import { sessionKey } from './session.ts';
import { theme } from './theme.ts';

const mostRetries = 2;

/** A session can end at any moment, from another device: the next refusal leads to the sign-in page. */
function noticeSignOut(error: unknown): void {
  if (error instanceof ApiError && error.status === 401 && error.code === 'signed_out')
    void queries.invalidateQueries({ queryKey: sessionKey });
}

const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeSignOut }),
  mutationCache: new MutationCache({ onError: noticeSignOut }),
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // The service may run on this very machine: whether the browser thinks it is online says nothing.
      networkMode: 'always',
      // What the service refused, it refuses again; what did not arrive may.
      retry: (count, error) =>
        count < mostRetries && !(error instanceof ApiError && error.status > 0 && error.status < 500),
    },
    mutations: { networkMode: 'always' },
  },
});

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// Dialogs hold the page still by a style element of their own (react-remove-scroll), which asks here.
setNonce(nonce);
const root = document.querySelector('#root');
if (root === null) throw new Error('index.html has no #root');

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
