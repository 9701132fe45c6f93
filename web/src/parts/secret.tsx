import { Stack, Text } from '@mantine/core';
import { useId } from 'react';
import classes from './secret.module.css';

/** Something to copy whole, shown whole: one click selects all of it. */
export function Secret({ label, value }: { label: string; value: string }) {
  const id = useId();
  return (
    <Stack gap={6}>
      <Text size="sm" fw={500} id={id}>
        {label}
      </Text>
      <code className={classes['secret']} tabIndex={0} role="textbox" aria-readonly aria-labelledby={id}>
        {value}
      </code>
    </Stack>
  );
}
