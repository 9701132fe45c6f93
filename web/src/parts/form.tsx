import { Alert, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { ApiError } from '../api.ts';
import type { FormState } from './use-form.ts';

interface FormProps {
  state: FormState;
  /** The fields that show their own problem; what is wrong elsewhere stands above the form. */
  fields: readonly string[];
  children: ReactNode;
}

/** A form whose errors are announced and focused: the first wrong field, else the sentence above. */
export function Form({ state, fields, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const { error } = state;
  useEffect(() => {
    if (error === null) return;
    const place = form.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-form-error]');
    place?.focus();
  }, [error]);
  const above = error === null ? undefined : outside(state, fields);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        state.submit();
      }}
    >
      <Stack gap="md">
        {above !== undefined && (
          <Alert color="red" icon={<IconAlertTriangle aria-hidden />} role="alert" tabIndex={-1} data-form-error>
            <Text size="sm">{above}</Text>
            {reference(error) !== undefined && (
              <Text size="xs" c="dimmed" mt={4}>
                Request {reference(error)}
              </Text>
            )}
          </Alert>
        )}
        {children}
      </Stack>
    </form>
  );
}

/** What no field shows. */
function outside({ error, problems }: FormState, fields: readonly string[]): string | undefined {
  const hidden = Object.entries(problems).filter(([field]) => !fields.includes(field));
  if (hidden.length > 0) return hidden.map(([field, text]) => `${field}: ${text}`).join(' ');
  return Object.keys(problems).length > 0 || error?.message === '' ? undefined : error?.message;
}

/** For the operator's log, where the server itself is at fault. */
function reference(error: Error | null): string | undefined {
  return error instanceof ApiError && error.status >= 500 ? error.body.request_id : undefined;
}
