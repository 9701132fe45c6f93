import { Text } from '@mantine/core';
import type { Run } from '@millrun/sdk';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Panel } from './panel.tsx';
import classes from './run.module.css';

/** The run as a program gets it. */
export function Json({ run }: { run: Run }) {
  const text = JSON.stringify(run, null, 2);
  return (
    <Panel title="As the API shows it" action={<CopyButton value={text} what="the run as JSON" />}>
      <details className={classes['json']}>
        <summary>
          <code>GET /api/v2/runs/{run.id}</code>
        </summary>
        <CodeBlock code={text} label="the run as JSON" />
        {(run.outputs ?? []).length > 0 && (
          <Text size="xs" c="dimmed" mt="xs">
            Its download addresses work for an hour without a token: whoever gets this text can use them.
          </Text>
        )}
      </details>
    </Panel>
  );
}
