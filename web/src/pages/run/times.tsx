import { Paper, Text } from '@mantine/core';
import { formatDuration } from '../../parts/format.ts';
import { isActive, timesOf, type SeenRun } from '../../parts/run-state.ts';
import { useNow } from '../../parts/use-now.ts';
import { Panel } from './panel.tsx';
import classes from './run.module.css';

/** How long the run waited and was worked on, drawn to scale. */
export function Times({ run }: { run: SeenRun }) {
  const active = isActive(run.status);
  const { queued, processing, total } = timesOf(run, useNow(active));
  const show = active ? formatSeconds : formatDuration;
  const parts = [
    { name: 'Queued for', ms: queued, part: 'queued' },
    ...(processing === undefined ? [] : [{ name: 'Processed for', ms: processing, part: 'processing' }]),
  ];
  return (
    <Panel title="Time">
      <Paper withBorder p="md">
        <div className={classes['bar']} aria-hidden>
          {parts.map(({ part, ms }) => (
            <span key={part} data-part={part} style={{ flexGrow: Math.max(ms, total * 0.02, 1) }} />
          ))}
        </div>
        <dl className={classes['times']}>
          {parts.map(({ name, ms, part }) => (
            <div key={part} className={classes['time']}>
              <dt>
                <span className={classes['dot']} data-part={part} aria-hidden />
                {name}
              </dt>
              <dd>{show(ms)}</dd>
            </div>
          ))}
          <div className={classes['time']}>
            <dt>{active ? 'So far' : 'In all'}</dt>
            <Text component="dd" inherit fw={600}>
              {show(total)}
            </Text>
          </div>
        </dl>
      </Paper>
    </Panel>
  );
}

/** Whole seconds while they are running: tenths would only flicker. */
function formatSeconds(ms: number): string {
  return formatDuration(Math.floor(ms / 1000) * 1000)
    .replace(/^0 ms$/, '0 s')
    .replace('.0', '');
}
