import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconEyeOff } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { CopyButton } from './copy-button.tsx';
import { Secret } from './secret.tsx';

interface ShownOnceDialogProps {
  title: string;
  /** What is shown, after `the`: `signing secret`. */
  what: string;
  value: string;
  /** Why it must be kept, and what it is good for. */
  warning: ReactNode;
  /** What to do when it is gone. */
  otherwise: string;
  /** Below the value. */
  note?: ReactNode;
  /** Is given what to call when it has let the value be copied as well. */
  children?: (onCopied: () => void) => ReactNode;
  onClose: () => void;
}

/** Shows a secret for the only time, and does not let it go uncopied unasked. Mount it to open it. */
export function ShownOnceDialog(props: ShownOnceDialogProps) {
  const { title, what, value, warning, otherwise, note, children, onClose } = props;
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  const onCopied = () => {
    setCopied(true);
    setAsking(false);
  };
  const leave = copied || asking ? onClose : () => setAsking(true);
  return (
    <Modal opened onClose={leave} title={title} size="lg" closeOnClickOutside={copied}>
      <Stack gap="md">
        <Alert color="yellow" variant="light" icon={<IconEyeOff aria-hidden />} title="Copy it now">
          <Text size="sm">{warning}</Text>
        </Alert>
        <Stack gap={6} onCopy={onCopied}>
          <Secret label={what.charAt(0).toUpperCase() + what.slice(1)} value={value} />
          {note !== undefined && (
            <Text size="xs" c="dimmed">
              {note}
            </Text>
          )}
          <CopyButton
            wide
            fullWidth
            autoFocus
            variant="filled"
            value={value}
            what={`the ${what}`}
            onCopied={onCopied}
          />
        </Stack>
        {children?.(onCopied)}
        {asking ? (
          <Alert
            color="red"
            variant="light"
            icon={<IconAlertTriangle aria-hidden />}
            title={`The ${what} was not copied`}
            role="alert"
          >
            <Stack gap="sm" align="flex-start">
              <Text size="sm">It cannot be shown again. {otherwise}</Text>
              <Group gap="xs">
                <Button variant="default" size="xs" onClick={() => setAsking(false)} autoFocus>
                  Go back
                </Button>
                <Button color="red" size="xs" onClick={onClose}>
                  Close without a copy
                </Button>
              </Group>
            </Stack>
          </Alert>
        ) : (
          <Group justify="flex-end">
            <Button variant="default" onClick={leave}>
              Done
            </Button>
          </Group>
        )}
      </Stack>
    </Modal>
  );
}
