import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';

interface ConfirmDialogProps<T> {
  title: string;
  /** What will happen, and whether it can be undone. */
  children: ReactNode;
  /** The button that does it, as a verb. */
  confirm: string;
  danger?: boolean;
  /** Resolves when it is done; its error is shown and the dialog stays. */
  action: () => Promise<T>;
  /** What follows when it is done; without it, the dialog closes. */
  onDone?: (result: T) => void;
  onClose: () => void;
}

/** Asks before something that cannot be taken back. Mount it to open it. */
export function ConfirmDialog<T>(props: ConfirmDialogProps<T>) {
  const { title, children, confirm, danger = false, action, onDone, onClose } = props;
  const doing = useMutation({ mutationFn: action, onSuccess: onDone ?? onClose });
  return (
    <Modal opened onClose={onClose} title={title}>
      <Stack gap="md">
        <Text size="sm" component="div">
          {children}
        </Text>
        {doing.error !== null && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {doing.error.message}
          </Text>
        )}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button {...(danger ? { color: 'red' } : {})} loading={doing.isPending} onClick={() => doing.mutate()}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
