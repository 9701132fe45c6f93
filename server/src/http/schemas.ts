import { Type, type TSchema } from 'typebox';
import { failureCodes } from '../lib/failure.ts';
import { webhookEvents } from '../webhooks/webhooks.ts';

/**
 * The shapes of the API for OpenAPI and for judging requests. Replies are typed by `@millrun/sdk` where they are made;
 * these describe the same shapes for readers.
 */

/** An enum of strings: TypeBox's own union of literals comes out as `anyOf`, which generators read badly. */
const oneOf = (values: readonly string[], description?: string) =>
  Type.Unsafe<string>({ type: 'string', enum: [...values], ...(description === undefined ? {} : { description }) });
const time = (description: string) => Type.String({ format: 'date-time', description });
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const runStatus = oneOf(['queued', 'processing', 'done', 'failed']);

const output = Type.Object({
  filename: Type.String(),
  url: Type.String({ format: 'uri', description: 'Signed download address, valid for an hour; needs no token.' }),
  size_bytes: Type.Integer(),
  media_type: Type.String(),
  sha256: Type.String(),
});

const actions = Type.Object({
  cancel: Type.Boolean(),
  delete: Type.Boolean(),
  delete_retry_after_s: Type.Optional(
    Type.Integer({ description: 'Seconds until delete is allowed; only inside the safety window.' }),
  ),
});

const runError = Type.Object({
  code: oneOf(failureCodes),
  message: Type.String(),
  file: Type.Optional(Type.String()),
});

export const run = Type.Object(
  {
    id: Type.String(),
    status: runStatus,
    tool: Type.String(),
    status_url: Type.String({ format: 'uri' }),
    stream_url: Type.String({ format: 'uri' }),
    progress: Type.Optional(Type.Integer({ description: 'While processing.' })),
    outputs: Type.Optional(Type.Array(output, { description: 'When done.' })),
    archive_url: Type.Optional(
      Type.String({ format: 'uri', description: 'All outputs as one ZIP; signed, and valid for an hour.' }),
    ),
    error: Type.Optional(runError),
    actions,
    settings: Type.Record(Type.String(), Type.Unknown()),
    inputs: Type.Array(Type.Object({ filename: Type.String(), size_bytes: Type.Integer() })),
    created_at: time('When it was submitted.'),
    started_at: nullable(time('When a worker took it.')),
    finished_at: nullable(time('When it ended.')),
    expires_at: nullable(time('When its files are deleted.')),
    queue_position: Type.Optional(Type.Integer({ description: 'While queued; 1 starts next.' })),
  },
  { description: 'A run, everywhere the same object.' },
);

export const submissionForm = Type.Object(
  { 'files[]': Type.Optional(Type.Array(Type.String({ format: 'binary' }), { description: 'The files, in order.' })) },
  {
    additionalProperties: Type.String(),
    description: 'Files, and the settings of the tool as text: `settings` of `GET /tools/{slug}` describes them.',
  },
);

export const submission = Type.Object({
  id: Type.String(),
  status: oneOf(['queued']),
  status_url: Type.String({ format: 'uri' }),
  stream_url: Type.String({ format: 'uri' }),
  tool: Type.String(),
  created_at: time('When it was accepted.'),
});

export const runPage = Type.Object({
  data: Type.Array(run),
  next_cursor: nullable(Type.String()),
  has_more: Type.Boolean(),
});

export const cancelReply = Type.Object({
  message: Type.String(),
  data: Type.Object({ status: runStatus, actions }),
});

const fileTypes = Type.Union([
  oneOf(['any']),
  Type.Object({ media_types: Type.Array(Type.String()), extensions: Type.Array(Type.String()) }),
]);

export const tool = Type.Object({
  slug: Type.String(),
  name: Type.String(),
  category: Type.String(),
  description: Type.String(),
  accepts: fileTypes,
  produces: fileTypes,
  min_files: Type.Integer(),
  max_files: Type.Integer(),
  settings: Type.Record(Type.String(), Type.Unknown(), { description: 'JSON Schema of the form fields.' }),
  available: Type.Boolean(),
  unavailable_reason: Type.Optional(Type.String()),
});

export const toolList = Type.Object({ data: Type.Array(tool), meta: Type.Object({ count: Type.Integer() }) });

export const usage = Type.Object({
  plan: Type.String(),
  runs_today: Type.Integer(),
  runs_per_day: Type.Integer({ description: '0 means no limit.' }),
  api_rate_limit: Type.Integer({ description: 'Requests a minute; 0 means no limit.' }),
  runs_remaining: nullable(Type.Integer()),
  resets_at: time('When the day’s runs start again.'),
  requests_this_minute: nullable(
    Type.Integer({ description: 'Requests counted in the present minute; null when there is no limit.' }),
  ),
  bytes_in_today: Type.Integer({ description: 'Inputs of the runs that have ended today (UTC).' }),
  bytes_out_today: Type.Integer({ description: 'Outputs of the runs that have ended today (UTC).' }),
  limits: Type.Object({
    max_file_bytes: Type.Integer(),
    max_files: Type.Integer(),
    max_run_bytes: Type.Integer(),
    concurrent_runs: Type.Integer(),
  }),
});

const date = (description: string) => Type.String({ format: 'date', description });
export const usageHistory = Type.Object({
  data: Type.Array(
    Type.Object({
      day: date('UTC day on which the runs ended.'),
      tool: Type.String(),
      done: Type.Integer(),
      failed: Type.Integer({ description: 'Without the cancelled ones.' }),
      cancelled: Type.Integer(),
      bytes_in: Type.Integer(),
      bytes_out: Type.Integer(),
      processing_ms: Type.Integer(),
    }),
    { description: 'The oldest day first. Days and tools on which nothing ended are left out.' },
  ),
  from: date('First day that was asked for.'),
  to: date('Today.'),
});
export const historyQuery = Type.Object({
  days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 90, default: 30, description: 'How many days, today included.' }),
  ),
});

const webhookShape = {
  id: Type.String(),
  url: Type.String({ format: 'uri' }),
  events: Type.Array(oneOf(webhookEvents)),
  enabled: Type.Boolean(),
  created_at: time('When it was registered.'),
  disabled_reason: Type.Optional(Type.String()),
};
export const webhook = Type.Object(webhookShape);
export const webhookWithSecret = Type.Object({
  ...webhookShape,
  secret: Type.String({ description: 'Shown this once.' }),
});
export const webhookList = Type.Object({ data: Type.Array(webhook) });

export const newWebhook = Type.Object(
  {
    url: Type.String({ maxLength: 2000 }),
    events: Type.Array(Type.String(), { description: `Some of ${webhookEvents.join(', ')}.` }),
  },
  { additionalProperties: false },
);
export const webhookChange = Type.Object(
  {
    url: Type.Optional(Type.String({ maxLength: 2000 })),
    events: Type.Optional(Type.Array(Type.String())),
    enabled: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false, minProperties: 1 },
);

const deliveryShape = {
  id: Type.String(),
  event_id: Type.String(),
  event_type: Type.String(),
  run_id: nullable(Type.String()),
  state: oneOf(['pending', 'delivered', 'failed']),
  next_attempt_at: nullable(time('When it is tried next.')),
  created_at: time('When the event happened.'),
};
const attemptShape = {
  at: time('When it was tried.'),
  status: Type.Optional(Type.Integer()),
  error: Type.Optional(Type.String()),
  duration_ms: Type.Integer(),
};
const headers = Type.Record(Type.String(), Type.String());
export const delivery = Type.Object({ ...deliveryShape, attempts: Type.Array(Type.Object(attemptShape)) });
export const deliveryDetail = Type.Object({
  ...deliveryShape,
  attempts: Type.Array(
    Type.Object({
      ...attemptShape,
      response: Type.Optional(
        Type.Object(
          {
            headers,
            body: Type.String({ description: 'The first 4 kB, as text.' }),
            truncated: Type.Boolean({ description: 'The body was longer.' }),
          },
          { description: 'Kept for the latest tries.' },
        ),
      ),
    }),
  ),
  request: Type.Object(
    { url: Type.String(), headers, body: Type.String() },
    { description: 'The last try’s; before the first one what will be sent, without headers.' },
  ),
});
export const deliveryPage = Type.Object({
  data: Type.Array(delivery),
  next_cursor: nullable(Type.String()),
  has_more: Type.Boolean(),
});

export const errorBody = Type.Object(
  {
    code: Type.String(),
    message: Type.String({ description: 'One sentence a person can act on.' }),
    request_id: Type.String(),
    errors: Type.Optional(
      Type.Record(Type.String(), Type.Array(Type.String()), { description: '422: broken rules by field.' }),
    ),
    action: Type.Optional(oneOf(['cancel', 'delete', 'retry'], '409 run_lifecycle_conflict.')),
    status: Type.Optional(runStatus),
    retry_after_s: Type.Optional(Type.Integer()),
  },
  { description: 'Every error, on every route.' },
);

const errorTexts: Record<number, string> = {
  400: 'Missing or invalid parameters.',
  401: 'Missing or invalid API token.',
  403: 'The plan does not include API access.',
  404: 'Unknown tool, run or webhook.',
  409: 'Lifecycle conflict, or an Idempotency-Key in use.',
  410: 'The files are no longer kept, or the address has expired.',
  413: 'A file, or the form, is over a limit.',
  416: 'The range is outside the file.',
  422: 'Validation errors, by field.',
  429: 'Rate limit or daily runs exceeded; Retry-After gives the seconds to wait.',
  503: 'The tool’s engine, the database or the storage is not available.',
};

/** The replies of a route: its own, and the errors it may give besides 401, 403 and 429. */
export function replies(success: Record<number, TSchema>, ...errors: number[]): Record<string, TSchema> {
  const failures = [401, 403, 429, ...errors].toSorted((a, b) => a - b);
  const described = failures.map((status) => [status, { ...errorBody, description: errorTexts[status] ?? 'Error.' }]);
  return { ...success, ...Object.fromEntries(described) };
}

export const idParams = Type.Object({ id: Type.String({ maxLength: 64 }) });
const limitParam = Type.Integer({ minimum: 1, maximum: 100, default: 20 });

export const pageQuery = Type.Object({
  limit: Type.Optional(limitParam),
  cursor: Type.Optional(Type.String({ maxLength: 200 })),
});
export const runsQuery = Type.Object({
  limit: Type.Optional(limitParam),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the page before.' })),
  status: Type.Optional(runStatus),
  tool: Type.Optional(Type.String({ maxLength: 100 })),
});
export const waitQuery = Type.Object({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 60,
      description: 'Answer as soon as the run is terminal, or after this many seconds.',
    }),
  ),
});
export const toolsQuery = Type.Object({
  category: Type.Optional(Type.String({ maxLength: 100 })),
  q: Type.Optional(Type.String({ maxLength: 100 })),
});
