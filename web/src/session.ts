import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { call } from './api.ts';
import type { AccountSummary, Person, SessionState } from './wire.ts';

export const sessionKey = ['session'] as const;

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: ({ signal }) => call<SessionState>('GET', '/account/session', undefined, signal),
  staleTime: 60_000,
  // A sign-out in another tab shows when the person comes back to this one.
  refetchOnWindowFocus: 'always',
});

/** Who is signed in; only below the shell, where somebody is. */
export function usePerson(): { person: Person; account: AccountSummary; accounts: AccountSummary[] } {
  const { data } = useQuery(sessionQuery);
  if (data?.person === undefined || data.account === undefined) throw new Error('nobody is signed in');
  return { person: data.person, account: data.account, accounts: data.accounts ?? [data.account] };
}

/** Forgets everything that was loaded for one person or account, and asks again who is here. */
export function useFreshSession(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionKey[0] });
    await queries.refetchQueries({ queryKey: sessionKey });
  };
}
