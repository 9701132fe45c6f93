import { Button, Group, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { Form } from './form.tsx';
import type { FormState } from './use-form.ts';

interface FormDialogProps {
  title: string;
  state: FormState;
  /** The fields that show their own problem, as for `Form`. */
  fields: readonly string[];
  /** The button that sends it, as a verb. */
  submit: string;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog, with the way out beside the way on. Mount it to open it. */
export function FormDialog({ title, state, fields, submit, onClose, children }: FormDialogProps) {
  return (
    <Modal opened onClose={onClose} title={title}>
      <Form state={state} fields={fields}>
        {children}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={state.busy}>
            {submit}
          </Button>
        </Group>
      </Form>
    </Modal>
  );
}
