import { Group, SegmentedControl, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { CodeBlock } from '../code-block.tsx';
import { ShownOnceDialog } from '../shown-once-dialog.tsx';

interface SecretDialogProps {
  title: string;
  secret: string;
  onClose: () => void;
}

type Language = 'TypeScript' | 'Python';

const samples: Record<Language, string> = {
  TypeScript: `// npm install standardwebhooks
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// The body as it came, before any JSON parsing.
// Throws when it is not genuine.
const event = webhook.verify(body, request.headers);`,
  Python: `# pip install standardwebhooks
import os
from standardwebhooks import Webhook

webhook = Webhook(os.environ["WEBHOOK_SECRET"])
# The body as it came, before any JSON parsing.
# Raises when it is not genuine.
event = webhook.verify(body, headers)`,
};

/** Shows the secret of a webhook for the only time, and how a receiver uses it. Mount it to open it. */
export function SecretDialog({ title, secret, onClose }: SecretDialogProps) {
  const [language, setLanguage] = useState<Language>('TypeScript');
  return (
    <ShownOnceDialog
      title={title}
      what="signing secret"
      value={secret}
      warning="The secret is shown only this once. Keep it like a password: whoever has it can send your server events that look like ours."
      otherwise="Without a copy you have to rotate it."
      onClose={onClose}
    >
      {() => (
        <Stack gap={6}>
          <Group justify="space-between" gap="xs">
            <Text size="sm" fw={500}>
              Verify what your server receives
            </Text>
            <SegmentedControl
              size="xs"
              aria-label="Language"
              value={language}
              onChange={(value) => setLanguage(value as Language)}
              data={['TypeScript', 'Python']}
            />
          </Group>
          <CodeBlock code={samples[language]} label="the verification code" />
          <Text size="xs" c="dimmed">
            The signature follows the Standard Webhooks specification; there are libraries for more languages.
          </Text>
        </Stack>
      )}
    </ShownOnceDialog>
  );
}
