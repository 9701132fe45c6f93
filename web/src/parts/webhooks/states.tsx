import { Badge } from '@mantine/core';
import { IconCheck, IconClock, IconX } from '@tabler/icons-react';
import type { Delivery, Webhook } from '@millrun/sdk';
import classes from './states.module.css';

const looks = {
  pending: { label: 'Pending', color: 'yellow', icon: IconClock },
  delivered: { label: 'Delivered', color: 'green', icon: IconCheck },
  failed: { label: 'Failed', color: 'red', icon: IconX },
} as const;

export function deliveryLabel({ state }: Pick<Delivery, 'state'>): string {
  return looks[state].label;
}

/** The state of a delivery as a word, a colour and a sign. */
export function DeliveryState({ delivery }: { delivery: Pick<Delivery, 'state'> }) {
  const { label, color, icon: Sign } = looks[delivery.state];
  return (
    <Badge
      color={color}
      variant="light"
      radius="sm"
      tt="none"
      className={classes['badge'] ?? ''}
      leftSection={<Sign size={12} stroke={2.4} aria-hidden />}
    >
      {label}
    </Badge>
  );
}

/** What a receiver answered: its HTTP status, if it came to one. */
export function AnswerState({ status }: { status: number | undefined }) {
  const good = status !== undefined && status >= 200 && status < 300;
  return (
    <Badge color={good ? 'green' : 'red'} variant="light" radius="sm" tt="none" className={classes['badge'] ?? ''}>
      {status ?? 'No answer'}
    </Badge>
  );
}

export function WebhookState({ webhook }: { webhook: Webhook }) {
  const { enabled, disabled_reason } = webhook;
  const label = enabled ? 'Enabled' : disabled_reason === undefined ? 'Disabled' : 'Switched off';
  return (
    <Badge variant="dot" color={enabled ? 'mill' : disabled_reason === undefined ? 'gray' : 'red'} tt="none" fw={500}>
      {label}
    </Badge>
  );
}
