import type { Delivery, Webhook } from '@millrun/sdk';
import { queryOptions } from '@tanstack/react-query';
import { apiPrefix, call } from '../../api.ts';

/** Everything that is loaded of webhooks lies below it. */
export const webhooksKey = ['webhooks'] as const;

export function webhookPath(id: string): string {
  return `${apiPrefix}/webhooks/${encodeURIComponent(id)}`;
}

export const webhooksQuery = queryOptions({
  queryKey: [...webhooksKey, 'list'] as const,
  queryFn: async ({ signal }) =>
    (await call<{ data: Webhook[] }>('GET', `${apiPrefix}/webhooks`, undefined, signal)).data,
});

export function webhookQuery(id: string) {
  return queryOptions({
    queryKey: [...webhooksKey, 'one', id] as const,
    queryFn: ({ signal }) => call<Webhook>('GET', webhookPath(id), undefined, signal),
  });
}

export interface DeliveryPage {
  data: Delivery[];
  next_cursor: string | null;
  has_more: boolean;
}
