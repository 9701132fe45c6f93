import { Paper, Text } from '@mantine/core';
import type { RunInput } from '@millrun/sdk';
import { FileIcon } from '../../parts/file-icon.tsx';
import { kindOf } from '../../parts/file-kind.ts';
import { FileName } from '../../parts/file-name.tsx';
import { formatBytes } from '../../parts/format.ts';
import { Panel } from './panel.tsx';
import classes from './run.module.css';

/** The files that were sent, in their order. */
export function Inputs({ inputs }: { inputs: readonly RunInput[] }) {
  const title = inputs.length > 1 ? `${inputs.length} inputs` : 'Input';
  const bytes = inputs.reduce((sum, { size_bytes }) => sum + size_bytes, 0);
  return (
    <Panel
      title={title}
      action={
        inputs.length > 1 && (
          <Text size="sm" c="dimmed">
            {formatBytes(bytes)} together
          </Text>
        )
      }
    >
      {inputs.length === 0 ? (
        <Text size="sm" c="dimmed">
          This run needed no file.
        </Text>
      ) : (
        <Paper withBorder component="ol" className={classes['files'] ?? ''} tabIndex={0} aria-label={title}>
          {inputs.map(({ filename, size_bytes }, index) => (
            // The same file may be sent twice, and the order never changes.
            // oxlint-disable-next-line react/no-array-index-key
            <li key={index} className={classes['file']}>
              <FileIcon kind={kindOf({ filename, mediaType: '' })} />
              <span className={classes['filename']}>
                <FileName name={filename} />
              </span>
              <Text size="sm" c="dimmed" className={classes['bytes'] ?? ''}>
                {formatBytes(size_bytes)}
              </Text>
            </li>
          ))}
        </Paper>
      )}
    </Panel>
  );
}
