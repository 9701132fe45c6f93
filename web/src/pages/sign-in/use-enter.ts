import { useQueryClient } from '@tanstack/react-query';
import { sessionKey, sessionQuery } from '../../session.ts';

/** After a reply that signed somebody in: forgets who was here before, and makes sure that the browser kept the cookie. */
export function useEnter(): () => Promise<void> {
  const queries = useQueryClient();
  return async () => {
    // What these pages themselves show stays until they are left.
    queries.removeQueries({ type: 'inactive' });
    await queries.refetchQueries({ queryKey: sessionKey }, { throwOnError: true });
    if (queries.getQueryData(sessionQuery.queryKey)?.person === undefined)
      throw new Error('The browser did not keep the sign-in. Allow cookies for this address, then try again.');
  };
}
