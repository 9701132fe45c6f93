export type * from './types.ts';
export { createClient } from './client.ts';
export type {
  ClientOptions,
  Millrun,
  RunFilter,
  RunOptions,
  SubmitOptions,
  ToolFilter,
  WaitOptions,
} from './client.ts';
export { MillrunError, type ClientErrorCode } from './errors.ts';
export type { FileInput, NamedContent, Settings, UploadProgress } from './form.ts';
export type { DownloadProgress, OnExists, SaveOptions } from './save.ts';
export type { CallOptions } from './transport.ts';
export { verifyWebhook, type IncomingHeaders, type VerifyOptions } from './verify-webhook.ts';
export type { WebhookChange, Webhooks } from './webhooks.ts';
