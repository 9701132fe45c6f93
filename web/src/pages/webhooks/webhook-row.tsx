import { Anchor, Group, Skeleton, Text } from '@mantine/core';
import type { Webhook } from '@millrun/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { call } from '../../api.ts';
import { Cell, Row } from '../../parts/row-list.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { eventLabel } from '../../parts/webhooks/events.ts';
import { webhookPath, webhooksKey, type DeliveryPage } from '../../parts/webhooks/queries.ts';
import { deliveryLabel, WebhookState } from '../../parts/webhooks/states.tsx';
import classes from './webhook-row.module.css';

/** Widths of the columns of a list of webhooks. */
export const webhookColumns = 'minmax(0, 1fr) 13rem 7.5rem';

const refreshMs = 10_000;

export function WebhookRow({ webhook }: { webhook: Webhook }) {
  return (
    <Row>
      <div className={classes['what']}>
        <Anchor component={Link} href={`/webhooks/${webhook.id}`} fw={600} className={classes['url'] ?? ''}>
          <bdi>{webhook.url}</bdi>
        </Anchor>
        <Text size="sm" c="dimmed" mt={2}>
          {webhook.events.map(eventLabel).join(', ')}
        </Text>
      </div>
      <Cell name="Last delivery">
        <LastDelivery id={webhook.id} />
      </Cell>
      <Group>
        <WebhookState webhook={webhook} />
      </Group>
    </Row>
  );
}

function LastDelivery({ id }: { id: string }) {
  const last = useQuery({
    queryKey: [...webhooksKey, 'last', id],
    queryFn: ({ signal }) => call<DeliveryPage>('GET', `${webhookPath(id)}/deliveries?limit=1`, undefined, signal),
    refetchInterval: refreshMs,
  });
  if (last.isPending) return <Skeleton height={12} width="8rem" my={5} />;
  const delivery = last.data?.data[0];
  if (delivery === undefined) return last.isError ? 'Unknown' : 'None yet';
  return (
    <>
      {deliveryLabel(delivery)}, <TimeAgo at={delivery.created_at} />
    </>
  );
}
