import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError } from '../api.ts';

/** What is wrong with a form, by field. */
export type Problems = Readonly<Record<string, string | undefined>>;

export interface FormState {
  submit(): void;
  busy: boolean;
  /** Why the last try failed; kept while the next one is under way, so that nothing jumps. */
  error: Error | null;
  /** The broken rules of that error, by field. */
  problems: Problems;
}

interface FormSteps<T> {
  /** What can be said without asking the server; only fields with a sentence count. */
  check?: () => Problems;
  send: () => Promise<T>;
  /** May throw, which counts as a failed try. */
  done: (reply: T) => void | Promise<void>;
}

/** The life of a form: checked here, sent, checked there, done. */
export function useForm<T>({ check, send, done }: FormSteps<T>): FormState {
  const [error, setError] = useState<Error | null>(null);
  const refused = error instanceof Refusal;
  const sending = useMutation({
    mutationFn: async () => {
      if (wrong(check?.()).length > 0) throw new Refusal();
      await done(await send());
    },
    onSuccess: () => setError(null),
    onError: setError,
  });
  return {
    submit: () => {
      if (!sending.isPending) sending.mutate();
    },
    busy: sending.isPending,
    error,
    // What this page itself found is gone as soon as it is mended.
    problems: refused ? Object.fromEntries(wrong(check?.())) : problemsOf(error),
  };
}

/** The form was not sent: its own check found something. */
class Refusal extends Error {}

function wrong(problems: Problems = {}): [field: string, text: string][] {
  return Object.entries(problems).filter((entry): entry is [string, string] => entry[1] !== undefined);
}

function problemsOf(error: Error | null): Problems {
  if (!(error instanceof ApiError)) return {};
  const fields = Object.entries(error.body.errors ?? {});
  return Object.fromEntries(fields.map(([field, texts]) => [field, texts.map(asSentence).join(' ')]));
}

/** The API's messages stand behind the name of a field: `must be in the future`. */
function asSentence(text: string): string {
  const whole = /^[a-z]/.test(text) ? `This ${text}` : text;
  return whole.endsWith('.') ? whole : `${whole}.`;
}
