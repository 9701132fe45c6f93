import { ActionIcon, Button, Tooltip, type ButtonProps } from '@mantine/core';
import { IconAlertTriangle, IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { copyText } from './clipboard.ts';

interface CopyProps {
  value: string;
  /** What is copied, for the label: `Copy <what>`. */
  what: string;
  /** A button with words instead of an icon. */
  wide?: boolean;
  variant?: NonNullable<ButtonProps['variant']>;
  fullWidth?: boolean;
  /** Has the focus when its dialog opens. */
  autoFocus?: boolean;
  onCopied?: () => void;
}

type Outcome = 'none' | 'copied' | 'refused';

const outcomeIcons = { none: IconCopy, copied: IconCheck, refused: IconAlertTriangle } as const;
const shownMs = 2000;

export function CopyButton({ value, what, wide = false, onCopied, autoFocus = false, ...look }: CopyProps) {
  const [outcome, setOutcome] = useState<Outcome>('none');
  useEffect(() => {
    if (outcome === 'none') return undefined;
    const timer = setTimeout(() => setOutcome('none'), shownMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const copied = await copyText(value);
    setOutcome(copied ? 'copied' : 'refused');
    if (copied) onCopied?.();
  };
  const label = { none: `Copy ${what}`, copied: 'Copied', refused: 'Select it and copy it yourself' }[outcome];
  const OutcomeIcon = outcomeIcons[outcome];
  const icon = <OutcomeIcon size={16} aria-hidden />;
  if (wide)
    return (
      <Button
        variant="default"
        {...look}
        leftSection={icon}
        onClick={() => void copy()}
        aria-live="polite"
        data-autofocus={autoFocus || undefined}
      >
        {label}
      </Button>
    );
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" onClick={() => void copy()} aria-label={label}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}
