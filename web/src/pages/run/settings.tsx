import { ColorSwatch, Paper, Text } from '@mantine/core';
import { Panel } from './panel.tsx';
import classes from './run.module.css';

/** Every setting in force by its name in the API, defaults included. Passwords are never among them. */
export function Settings({ settings }: { settings: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(settings);
  return (
    <Panel title="Settings">
      {entries.length === 0 ? (
        <Text size="sm" c="dimmed">
          This tool has none.
        </Text>
      ) : (
        <Paper withBorder component="dl" className={classes['pairs'] ?? ''}>
          {entries.map(([name, value]) => (
            <div key={name} className={classes['pair']}>
              <dt>{name}</dt>
              <dd>
                {isColor(value) && <ColorSwatch color={value} size={14} aria-hidden />}
                <span>{showValue(value)}</span>
              </dd>
            </div>
          ))}
        </Paper>
      )}
    </Panel>
  );
}

function isColor(value: unknown): value is string {
  return typeof value === 'string' && /^#[0-9a-f]{6}([0-9a-f]{2})?$/i.test(value);
}

function showValue(value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}
