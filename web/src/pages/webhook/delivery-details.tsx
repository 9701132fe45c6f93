import { Button, Group, Skeleton, Stack, Text, Title } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import type { Delivery, DeliveryDetail, Webhook } from '@millrun/sdk';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { showFailure } from '../../parts/failure.ts';
import { formatDateTime, formatDuration } from '../../parts/format.ts';
import { webhookPath, webhooksKey } from '../../parts/webhooks/queries.ts';
import { AnswerState } from '../../parts/webhooks/states.tsx';
import { headerLines, readable } from './message-text.ts';
import classes from './webhook.module.css';

interface DeliveryDetailsProps {
  webhook: Webhook;
  delivery: Delivery;
}

/** Loaded when it is opened: the list does not carry what was sent and what came back. */
export function DeliveryDetails({ webhook, delivery }: DeliveryDetailsProps) {
  const path = `${webhookPath(webhook.id)}/deliveries/${delivery.id}`;
  const detail = useQuery({
    // Every attempt makes it another one.
    queryKey: [...webhooksKey, 'delivery', delivery.id, delivery.state, delivery.attempts.length],
    queryFn: ({ signal }) => call<DeliveryDetail>('GET', path, undefined, signal),
    placeholderData: keepPreviousData,
  });
  if (detail.data === undefined)
    return detail.isError ? (
      <ErrorState error={detail.error} onRetry={() => void detail.refetch()} />
    ) : (
      <Skeleton height={320} />
    );
  return (
    <Stack gap="md">
      <Redeliver webhook={webhook} delivery={delivery} path={path} />
      <div className={classes['exchange']}>
        <Request detail={detail.data} />
        <Attempts detail={detail.data} />
      </div>
    </Stack>
  );
}

function Redeliver({ webhook, delivery, path }: DeliveryDetailsProps & { path: string }) {
  const queries = useQueryClient();
  const redeliver = useMutation({
    mutationFn: () => call<Delivery>('POST', `${path}/redeliver`),
    onSuccess: () => queries.invalidateQueries({ queryKey: webhooksKey }),
    onError: showFailure,
  });
  return (
    <Group gap="sm">
      <Button
        size="xs"
        variant="default"
        leftSection={<IconRefresh size={14} aria-hidden />}
        loading={redeliver.isPending}
        disabled={!webhook.enabled}
        onClick={() => redeliver.mutate()}
      >
        {delivery.state === 'pending' ? 'Try now' : 'Send again'}
      </Button>
      <Text size="sm" c="dimmed">
        {webhook.enabled
          ? 'The same event under the same id, so that your server can tell a repeat.'
          : 'Enable the webhook to send it again.'}
      </Text>
    </Group>
  );
}

function Request({ detail }: { detail: DeliveryDetail }) {
  const { url, headers, body } = detail.request;
  const sent = Object.keys(headers).length > 0;
  return (
    <Stack gap="sm" miw={0}>
      <Title order={3} size="h6">
        {sent ? 'Request, as the last attempt sent it' : 'Request, not sent yet'}
      </Title>
      <div className={classes['bounded']}>
        <CodeBlock code={[`POST ${url}`, ...headerLines(headers)].join('\n')} label="the headers of the request" />
      </div>
      <Body body={body} whose="the request" />
    </Stack>
  );
}

const shownAtFirst = 5;

function Attempts({ detail }: { detail: DeliveryDetail }) {
  const [all, setAll] = useState(false);
  const newestFirst = detail.attempts.map((attempt, index) => ({ attempt, number: index + 1 })).toReversed();
  return (
    <Stack gap="sm" miw={0}>
      <Title order={3} size="h6">
        Attempts
      </Title>
      {newestFirst.length === 0 && (
        <Text size="sm" c="dimmed">
          It has not been tried yet.
        </Text>
      )}
      <Stack gap="md" component="ol" className={classes['attempts'] ?? ''} aria-label="Attempts, newest first">
        {(all ? newestFirst : newestFirst.slice(0, shownAtFirst)).map(({ attempt, number }) => (
          <li key={number}>
            <Attempt attempt={attempt} number={number} />
          </li>
        ))}
      </Stack>
      {!all && newestFirst.length > shownAtFirst && (
        <Button size="xs" variant="subtle" onClick={() => setAll(true)} style={{ alignSelf: 'flex-start' }}>
          Show all {newestFirst.length} attempts
        </Button>
      )}
    </Stack>
  );
}

function Attempt({ attempt, number }: { attempt: DeliveryDetail['attempts'][number]; number: number }) {
  const { at, status, error, duration_ms, response } = attempt;
  const [open, setOpen] = useState(false);
  return (
    <Stack gap={6}>
      <Group gap="xs">
        <Text size="sm" fw={600}>
          {number}.
        </Text>
        <AnswerState status={status} />
        <Text size="sm" c="dimmed">
          {formatDateTime(at)}, {formatDuration(duration_ms)}
        </Text>
      </Group>
      {error !== undefined && <Text size="sm">{error}</Text>}
      {response !== undefined && (
        <>
          <Body body={response.body} whose={`response ${number}`} truncated={response.truncated} />
          <Button
            size="compact-xs"
            variant="subtle"
            color="gray"
            aria-expanded={open}
            onClick={() => setOpen(!open)}
            style={{ alignSelf: 'flex-start' }}
          >
            {open ? 'Hide the headers' : 'Show the headers'}
          </Button>
          {open && (
            <div className={classes['bounded']}>
              <CodeBlock code={headerLines(response.headers).join('\n')} label={`the headers of response ${number}`} />
            </div>
          )}
        </>
      )}
    </Stack>
  );
}

interface BodyProps {
  body: string;
  /** `the request`, `response 2`. */
  whose: string;
  truncated?: boolean;
}

function Body({ body, whose, truncated = false }: BodyProps) {
  if (body === '')
    return (
      <Text size="sm" c="dimmed">
        No body.
      </Text>
    );
  return (
    <>
      <div className={classes['bounded']}>
        <CodeBlock code={readable(body)} label={`the body of ${whose}`} />
      </div>
      {truncated && (
        <Text size="xs" c="dimmed">
          The first 4 kB; the body was longer.
        </Text>
      )}
    </>
  );
}
