import { Stack, Text } from '@mantine/core';
import { apiPrefix } from '../../api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { formatDateTime } from '../../parts/format.ts';
import { ShownOnceDialog } from '../../parts/shown-once-dialog.tsx';
import type { MadeToken } from '../../wire.ts';

/** Shows a token for the only time, with a line that uses it. Mount it to open it. */
export function MadeTokenDialog({ token, onClose }: { token: MadeToken; onClose: () => void }) {
  const curl = `curl ${window.location.origin}${apiPrefix}/tools -H "Authorization: Bearer ${token.token}"`;
  return (
    <ShownOnceDialog
      title={`Your new token “${token.name}”`}
      what="token"
      value={token.token}
      warning="The token is shown only this once. Keep it like a password: whoever has it can use this account’s runs and files."
      otherwise="Without a copy you have to make another."
      note={token.expires_at === null ? 'It never expires.' : `It expires on ${formatDateTime(token.expires_at)}.`}
      onClose={onClose}
    >
      {(onCopied) => (
        <Stack gap={6} onCopy={onCopied}>
          <Text size="sm" fw={500}>
            Try it
          </Text>
          <CodeBlock code={curl} label="the curl line" onCopied={onCopied} />
        </Stack>
      )}
    </ShownOnceDialog>
  );
}
