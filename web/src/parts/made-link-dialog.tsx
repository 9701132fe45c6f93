import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import type { MadeLink } from '../wire.ts';
import { CopyButton } from './copy-button.tsx';
import { formatDateTime } from './format.ts';
import { Secret } from './secret.tsx';

interface MadeLinkDialogProps {
  link: MadeLink;
  title: string;
  /** Who gets it, and what it lets them do. */
  children: string;
  onClose: () => void;
}

/** Shows a one-time link for the only time, to be passed on by hand. Mount it to open it. */
export function MadeLinkDialog({ link, title, children, onClose }: MadeLinkDialogProps) {
  return (
    <Modal opened onClose={onClose} title={title} size="lg" closeOnClickOutside={false}>
      <Stack gap="md">
        <Text size="sm">
          {children} The link is shown only now, works once, and until {formatDateTime(link.expires_at)}. Millrun sends
          no mail: pass it on yourself, on a way you trust.
        </Text>
        <Secret label="One-time link" value={link.url} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Done
          </Button>
          <CopyButton wide autoFocus variant="filled" value={link.url} what="the link" />
        </Group>
      </Stack>
    </Modal>
  );
}
