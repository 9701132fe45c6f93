/** Fields of a request that break a rule: field name to one or more sentences. A file is `files.0`, `files.1`, … */
export type FieldErrors = Record<string, string[]>;

interface AppErrorOptions {
  /** Response headers that belong to this error, such as `Retry-After`. */
  headers?: Record<string, string>;
  /** Keys added to the error body beside `code`, `message` and `request_id`. */
  body?: Record<string, unknown>;
  /** For the log only. */
  cause?: unknown;
}

/**
 * The one error class of the service: what the caller may know (`status`, `code`, `message`, `body`) apart from what only
 * the log may (`cause`). `http/errors.ts` is the only place that turns one into a response.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  readonly body: Record<string, unknown>;

  constructor(status: number, code: string, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.headers = options.headers ?? {};
    this.body = options.body ?? {};
  }
}

export function badRequest(code: string, message: string): AppError {
  return new AppError(400, code, message);
}

export function notFound(message: string): AppError {
  return new AppError(404, 'not_found', message);
}

/** 422 with the specification's `errors` field. */
export function validationFailed(errors: FieldErrors): AppError {
  const first = Object.entries(errors)[0];
  const message = first === undefined ? 'The request breaks a rule.' : `${first[0]}: ${first[1][0] ?? 'not valid'}`;
  return new AppError(422, 'validation_failed', message, { body: { errors } });
}

export function unavailable(code: string, message: string, retryAfterSeconds: number, cause?: unknown): AppError {
  return new AppError(503, code, message, { headers: { 'Retry-After': String(retryAfterSeconds) }, cause });
}

/** Whatever was thrown, as an Error: `throw 'text'` exists in other people's code. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The `code` of a Node or PostgreSQL error (`ENOENT`, `23505`), or undefined. */
export function errorCode(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
