import { deleteAt, getJson, getPages, post } from './requests.ts';
import { segment, type CallOptions, type Transport } from './transport.ts';
import type { Delivery, DeliveryDetail, Webhook, WebhookEvent, WebhookWithSecret } from './types.ts';

export interface WebhookChange {
  url?: string | undefined;
  events?: WebhookEvent[] | undefined;
  enabled?: boolean | undefined;
}

/** What the service calls when runs end. */
export interface Webhooks {
  /** The reply is the only one that shows the secret. */
  create(webhook: { url: string; events: WebhookEvent[] }, options?: CallOptions): Promise<WebhookWithSecret>;
  list(options?: CallOptions): Promise<Webhook[]>;
  get(id: string, options?: CallOptions): Promise<Webhook>;
  update(id: string, change: WebhookChange, options?: CallOptions): Promise<Webhook>;
  remove(id: string, options?: CallOptions): Promise<void>;
  /** Sends an event `webhook.test`. */
  test(id: string, options?: CallOptions): Promise<Delivery>;
  /** Makes a new secret; the former one signs as well for 24 hours. */
  rotateSecret(id: string, options?: CallOptions): Promise<WebhookWithSecret>;
  /** All deliveries, the newest first, fetched page by page as they are asked for. */
  deliveries(id: string, options?: CallOptions & { pageSize?: number | undefined }): AsyncGenerator<Delivery, void>;
  delivery(id: string, deliveryId: string, options?: CallOptions): Promise<DeliveryDetail>;
  redeliver(id: string, deliveryId: string, options?: CallOptions): Promise<Delivery>;
}

export function createWebhooks(transport: Transport): Webhooks {
  const at = (id: string) => `/webhooks/${segment(id)}`;
  const deliveryAt = (id: string, deliveryId: string) => `${at(id)}/deliveries/${segment(deliveryId)}`;
  return {
    create: async (webhook, call = {}) => post(transport, '/webhooks', call, webhook),
    list: async (call = {}) => (await getJson<{ data: Webhook[] }>(transport, '/webhooks', call)).data,
    get: async (id, call = {}) => getJson(transport, at(id), call),
    update: async (id, change, { signal } = {}) =>
      transport.json({ method: 'PATCH', path: at(id), json: change, repeatable: true, signal }),
    remove: async (id, call = {}) => deleteAt(transport, at(id), call),
    test: async (id, call = {}) => post(transport, `${at(id)}/test`, call),
    rotateSecret: async (id, call = {}) => post(transport, `${at(id)}/rotate-secret`, call),
    deliveries: (id, { pageSize, signal } = {}) =>
      getPages(transport, `${at(id)}/deliveries`, { signal }, { limit: pageSize }),
    delivery: async (id, deliveryId, call = {}) => getJson(transport, deliveryAt(id, deliveryId), call),
    redeliver: async (id, deliveryId, call = {}) => post(transport, `${deliveryAt(id, deliveryId)}/redeliver`, call),
  };
}
