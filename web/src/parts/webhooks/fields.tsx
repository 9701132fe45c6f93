import { Checkbox, Code, Stack, TextInput } from '@mantine/core';
import type { WebhookEvent } from '@millrun/sdk';
import type { Problems } from '../use-form.ts';
import { webhookEvents } from './events.ts';

export interface WebhookDraft {
  url: string;
  events: WebhookEvent[];
}

interface WebhookFieldsProps {
  draft: WebhookDraft;
  problems: Problems;
  onChange: (draft: WebhookDraft) => void;
}

/** Characters the API takes. */
const longestUrl = 2000;

/** What a webhook is made of, for a new one and for a change. */
export function WebhookFields({ draft, problems, onChange }: WebhookFieldsProps) {
  return (
    <>
      <TextInput
        label="URL"
        description="Your server’s address, https:// or http://. Events are sent to it with POST."
        placeholder="https://example.com/hooks/millrun"
        value={draft.url}
        onChange={(event) => onChange({ ...draft, url: event.currentTarget.value })}
        error={problems['url']}
        maxLength={longestUrl}
        inputMode="url"
        spellCheck={false}
        autoComplete="off"
        data-autofocus
      />
      <Checkbox.Group
        label="Events"
        description="When it is called."
        value={draft.events}
        onChange={(events) => onChange({ ...draft, events: events as WebhookEvent[] })}
        error={problems['events']}
      >
        <Stack gap="xs" my="xs">
          {webhookEvents.map(({ value, label, meaning }) => (
            <Checkbox
              key={value}
              value={value}
              label={
                <>
                  {label} <Code>{value}</Code>
                </>
              }
              description={meaning}
              {...(problems['events'] !== undefined && { 'aria-invalid': true })}
            />
          ))}
        </Stack>
      </Checkbox.Group>
    </>
  );
}

export const webhookFields = ['url', 'events'] as const;

export function checkDraft({ url, events }: WebhookDraft): Problems {
  return {
    url: url.trim() === '' ? 'Enter a URL.' : undefined,
    events: events.length === 0 ? 'Choose at least one event.' : undefined,
  };
}
