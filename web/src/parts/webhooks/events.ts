import type { Delivery, WebhookEvent } from '@millrun/sdk';

/** What can be told, and what it means. */
export const webhookEvents: readonly { value: WebhookEvent; label: string; meaning: string }[] = [
  { value: 'run.completed', label: 'A run is done', meaning: 'Its outputs can be downloaded.' },
  { value: 'run.failed', label: 'A run has failed', meaning: 'Also when it was cancelled.' },
];

export function eventLabel(type: Delivery['event_type']): string {
  return webhookEvents.find(({ value }) => value === type)?.label ?? 'Test event';
}
