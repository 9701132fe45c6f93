import { Anchor, Paper, Text } from '@mantine/core';
import type { Run } from '@millrun/sdk';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { CopyButton } from '../../parts/copy-button.tsx';
import { isActive } from '../../parts/run-state.ts';
import { Panel } from './panel.tsx';
import classes from './run.module.css';

const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** When things happened, how long the files stay, and what to say when asking for help. */
export function Facts({ run, toolName }: { run: Run; toolName: string }) {
  return (
    <Panel title="About this run">
      <Paper withBorder component="dl" p="md" className={classes['facts'] ?? ''}>
        <Fact name="Tool">
          <Anchor component={Link} href={`/tools/${run.tool}`} size="sm">
            {toolName}
          </Anchor>
        </Fact>
        <Moment name="Submitted" at={run.created_at} />
        {run.started_at !== null && <Moment name="Started" at={run.started_at} />}
        {run.finished_at !== null && <Moment name="Ended" at={run.finished_at} />}
        {run.expires_at !== null && (
          <Moment name={isActive(run.status) ? 'Files kept until, at least' : 'Files kept until'} at={run.expires_at} />
        )}
        <Fact name="Id">
          <span className={classes['id']}>
            <code>{run.id}</code>
            <CopyButton value={run.id} what="the id of the run" />
          </span>
        </Fact>
      </Paper>
      <Text size="xs" c="dimmed">
        If you ask for help, give this id. Every reply of the API also has an <code>X-Request-Id</code>, which the log
        of the server repeats.
      </Text>
    </Panel>
  );
}

function Moment({ name, at }: { name: string; at: string }) {
  return (
    <Fact name={name}>
      <time dateTime={at}>{moment.format(new Date(at))}</time>
    </Fact>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
