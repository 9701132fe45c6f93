import { Button, Group, Stack, Text, Title, VisuallyHidden } from '@mantine/core';
import { IconSend } from '@tabler/icons-react';
import type { Delivery, Webhook } from '@millrun/sdk';
import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorState } from '../../parts/error-state.tsx';
import { RowList, RowSkeleton } from '../../parts/row-list.tsx';
import { webhookPath, webhooksKey, type DeliveryPage } from '../../parts/webhooks/queries.ts';
import { deliveryLabel } from '../../parts/webhooks/states.tsx';
import { DeliveryItem, deliveryColumns } from './delivery-item.tsx';
import { refreshAfter } from './delivery-times.ts';

interface DeliveriesProps {
  webhook: Webhook;
  /** The test event that was sent from this page last, by its delivery. */
  tested: string | undefined;
}

const rowHeight = 79;

/** What was sent, the newest first, kept up while somebody looks. */
export function Deliveries({ webhook, tested }: DeliveriesProps) {
  const [open, setOpen] = useState<string>();
  const [opened, setOpened] = useState<string>();
  // A test event shows what came of it without another click.
  if (tested !== opened) {
    setOpened(tested);
    setOpen(tested);
  }
  const list = useInfiniteQuery({
    queryKey: [...webhooksKey, 'deliveries', webhook.id],
    queryFn: ({ pageParam, signal }) =>
      call<DeliveryPage>('GET', `${webhookPath(webhook.id)}/deliveries${pageParam}`, undefined, signal),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor }) =>
      next_cursor === null ? undefined : `?cursor=${encodeURIComponent(next_cursor)}`,
    refetchInterval: ({ state }) => refreshAfter(all(state.data), Date.now()),
  });
  const deliveries = all(list.data);
  const watched = deliveries.find(({ id }) => id === tested);
  return (
    <Stack gap="sm" component="section" aria-labelledby="deliveries-title">
      <div>
        <Title order={2} size="h4" id="deliveries-title">
          Deliveries
        </Title>
        <Text size="sm" c="dimmed">
          Newest first, kept for 30 days. What fails is tried seven times in all, over about 18 hours.
        </Text>
      </div>
      <VisuallyHidden role="status">{watched !== undefined && announce(watched)}</VisuallyHidden>
      {list.isPending && <RowSkeleton rows={4} height={rowHeight} />}
      {list.data === undefined && list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.data !== undefined && deliveries.length === 0 && (
        <EmptyState icon={<IconSend />} title="Nothing was sent yet">
          {webhook.enabled
            ? 'Send a test event to see whether your server answers, and what.'
            : 'The webhook is disabled. Enable it, and send a test event.'}
        </EmptyState>
      )}
      {deliveries.length > 0 && (
        <RowList label="Deliveries" columns={deliveryColumns}>
          {deliveries.map((delivery) => (
            <DeliveryItem
              key={delivery.id}
              webhook={webhook}
              delivery={delivery}
              open={open === delivery.id}
              reveal={delivery.id === tested}
              onToggle={() => setOpen(open === delivery.id ? undefined : delivery.id)}
            />
          ))}
        </RowList>
      )}
      {list.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Show older ones
          </Button>
        </Group>
      )}
    </Stack>
  );
}

function all(data: InfiniteData<DeliveryPage> | undefined): Delivery[] {
  return data?.pages.flatMap((page) => page.data) ?? [];
}

function announce(delivery: Delivery): string {
  if (delivery.attempts.length === 0) return 'The test event is on its way.';
  const { status, error = '' } = delivery.attempts.at(-1) ?? {};
  return `Test event: ${deliveryLabel(delivery)}. ${status === undefined ? error : `The server answered ${status}.`}`;
}
