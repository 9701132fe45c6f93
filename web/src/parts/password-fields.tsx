import { Box, PasswordInput, Text, type PasswordInputProps } from '@mantine/core';
import { judgePassword, shortestPassword } from './password-strength.ts';
import classes from './password-fields.module.css';

interface PasswordFieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
  disabled?: boolean;
  autoFocus?: boolean;
}

const reveal = {
  visibilityToggleFocusable: true,
  visibilityToggleButtonProps: { 'aria-label': 'Show the password' },
  spellCheck: false,
} as const satisfies PasswordInputProps;

/** Asks for a password somebody has. */
export function CurrentPasswordField({ onChange, ...props }: PasswordFieldProps) {
  return (
    <PasswordInput
      {...reveal}
      {...props}
      aria-invalid={props.error !== undefined}
      name="password"
      autoComplete="current-password"
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** Asks for a new password, and says how good it is while it is typed. */
export function NewPasswordField({ onChange, email, ...props }: PasswordFieldProps & { email: string }) {
  const { level, hint } = judgePassword(props.value, email);
  const untouched = props.value === '';
  return (
    <Box>
      <PasswordInput
        {...reveal}
        {...props}
        aria-invalid={props.error !== undefined}
        name="new-password"
        autoComplete="new-password"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
      <Box className={classes['meter'] ?? ''} aria-hidden mt={8}>
        {[1, 2, 3].map((step) => (
          <span key={step} data-on={step <= level ? level : undefined} />
        ))}
      </Box>
      <Text size="xs" c="dimmed" mt={4} aria-live="polite">
        {untouched ? `At least ${shortestPassword} characters.` : hint}
      </Text>
    </Box>
  );
}
