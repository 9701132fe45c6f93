/**
 * The wire types of the Millrun API, version 2. They live here once: the server imports them and must return them, so a
 * drift is a compile error. JSON is snake_case, times are RFC 3339 UTC with milliseconds, sizes are bytes.
 */

export type RunStatus = 'queued' | 'processing' | 'done' | 'failed';

export interface Output {
  filename: string;
  /** Absolute, signed, valid for an hour; every GET of the run renews it. Needs no token. */
  url: string;
  size_bytes: number;
  media_type: string;
  /** Lower-case hexadecimal. */
  sha256: string;
}

export interface Actions {
  cancel: boolean;
  delete: boolean;
  /** Whole seconds until delete is allowed, at least 1; present only inside the safety window. */
  delete_retry_after_s?: number;
}

export type RunErrorCode =
  | 'cancelled'
  | 'invalid_input'
  | 'password_required'
  | 'engine_failed'
  | 'timed_out'
  | 'resource_limit'
  | 'worker_lost'
  | 'internal';

export interface RunError {
  code: RunErrorCode;
  /** A sentence for a person. */
  message: string;
  /** The given name of the file it is about, where there is one. */
  file?: string;
}

export interface RunInput {
  filename: string;
  size_bytes: number;
}

export interface Run {
  id: string;
  status: RunStatus;
  tool: string;
  status_url: string;
  stream_url: string;
  /** 0 to 99, while processing. */
  progress?: number;
  /** Present when the run is done. */
  outputs?: Output[];
  /** All outputs as one ZIP: absolute, signed and expiring as theirs. Present with them. */
  archive_url?: string;
  /** Present when the run has failed. */
  error?: RunError;
  actions: Actions;
  settings: Record<string, unknown>;
  inputs: RunInput[];
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** When inputs and outputs are deleted; null once they are, or when they are kept. */
  expires_at: string | null;
  /** 1 for the run that starts next; while queued. */
  queue_position?: number;
}

/** The reply of `POST /tools/{slug}` and `POST /runs/{id}/retry`. */
export interface Submission {
  id: string;
  status: 'queued';
  status_url: string;
  stream_url: string;
  tool: string;
  created_at: string;
}

export interface CancelReply {
  message: string;
  data: { status: RunStatus; actions: Actions };
}

export interface RunPage {
  data: Run[];
  /** Opaque; never expires, never skips or repeats a run. */
  next_cursor: string | null;
  has_more: boolean;
}

/** One message of `GET /runs/{id}/stream`. */
export interface StreamMessage {
  status: RunStatus;
  progress?: number;
  queue_position?: number;
  outputs?: Output[];
  archive_url?: string;
  error?: RunError;
}

export interface Tool {
  slug: string;
  name: string;
  category: string;
  description: string;
  accepts: { media_types: string[]; extensions: string[] } | 'any';
  produces: { media_types: string[]; extensions: string[] } | 'any';
  min_files: number;
  max_files: number;
  /** JSON Schema (2020-12) of the form fields. */
  settings: Record<string, unknown>;
  available: boolean;
  /** What to install or allow, when it is not available. */
  unavailable_reason?: string;
}

export interface ToolList {
  data: Tool[];
  meta: { count: number };
}

export interface Usage {
  plan: string;
  runs_today: number;
  /** 0 means no limit. */
  runs_per_day: number;
  /** Requests a minute; 0 means no limit. */
  api_rate_limit: number;
  /** null means no limit. */
  runs_remaining: number | null;
  /** Midnight UTC, when the day's runs start again. */
  resets_at: string;
  /** Requests counted in the present minute, this one included; null when there is no limit. */
  requests_this_minute: number | null;
  /** Inputs and outputs of the runs that have ended today (UTC). */
  bytes_in_today: number;
  bytes_out_today: number;
  limits: {
    /** 0 means no limit, in each of these. */
    max_file_bytes: number;
    max_files: number;
    max_run_bytes: number;
    concurrent_runs: number;
  };
}

/** The runs of one tool that ended on one day. */
export interface UsageOfDay {
  /** UTC: `2026-11-21`. */
  day: string;
  tool: string;
  done: number;
  /** Without the cancelled ones. */
  failed: number;
  cancelled: number;
  /** Sizes of the inputs and of the outputs. */
  bytes_in: number;
  bytes_out: number;
  /** From the start of each run to its end; 0 for one that was cancelled while queued. */
  processing_ms: number;
}

/** Days and tools on which nothing ended are left out. */
export interface UsageHistory {
  /** The oldest day first. */
  data: UsageOfDay[];
  /** First and last day that were asked for. */
  from: string;
  to: string;
}

export type WebhookEvent = 'run.completed' | 'run.failed';

export interface Webhook {
  id: string;
  url: string;
  events: WebhookEvent[];
  enabled: boolean;
  created_at: string;
  /** Why the service switched it off, when it did. */
  disabled_reason?: string;
}

/** The reply of `POST /webhooks` and of rotate-secret: the only ones that show a secret. */
export interface WebhookWithSecret extends Webhook {
  secret: string;
}

export interface DeliveryAttempt {
  at: string;
  /** HTTP status of the reply; absent when there was none. */
  status?: number;
  error?: string;
  duration_ms: number;
}

export interface Delivery {
  id: string;
  event_id: string;
  event_type: WebhookEvent | 'webhook.test';
  run_id: string | null;
  state: 'pending' | 'delivered' | 'failed';
  attempts: DeliveryAttempt[];
  next_attempt_at: string | null;
  created_at: string;
}

export interface DeliveryResponse {
  headers: Record<string, string>;
  /** The first 4 kB, as text. */
  body: string;
  /** The body was longer. */
  truncated: boolean;
}

/** The reply of `GET /webhooks/{id}/deliveries/{delivery_id}`: a delivery with what went out and what came back. */
export interface DeliveryDetail extends Omit<Delivery, 'attempts'> {
  attempts: (DeliveryAttempt & { response?: DeliveryResponse })[];
  /** The last try's; before the first one what will be sent, without headers. */
  request: { url: string; headers: Record<string, string>; body: string };
}

/** What a webhook receives. */
export interface WebhookPayload {
  id: string;
  type: WebhookEvent | 'webhook.test';
  timestamp: string;
  data: Run | Record<string, unknown>;
}

/** Every error, on every route. */
export interface ErrorBody {
  code: string;
  message: string;
  request_id: string;
  /** 422: broken rules by field; a file is `files.0`, `files.1`, … */
  errors?: Record<string, string[]>;
  /** 409 `run_lifecycle_conflict`. */
  action?: 'cancel' | 'delete' | 'retry';
  status?: RunStatus;
  retry_after_s?: number;
}
