import { TextInput } from '@mantine/core';

interface EmailFieldProps {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}

/** Asks for the address somebody signs in with; `fixed` shows one that is settled already. */
export function OwnEmailField({ onChange, fixed = false, ...props }: EmailFieldProps & { fixed?: boolean }) {
  return (
    <TextInput
      {...props}
      label="E-mail"
      name="email"
      type="email"
      autoComplete="username"
      onChange={(event) => onChange(event.currentTarget.value)}
      readOnly={fixed}
      variant={fixed ? 'filled' : 'default'}
      autoFocus={!fixed}
    />
  );
}

/** Asks for the address of somebody else, who may also choose it. */
export function InvitedEmailField({ onChange, ...props }: EmailFieldProps) {
  return (
    <TextInput
      {...props}
      label="E-mail"
      description="Leave it empty to let whoever has the link choose it."
      type="email"
      autoComplete="off"
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  );
}
