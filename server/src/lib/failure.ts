/** Why a piece of work ended without a result: the contract's closed list. */
export const failureCodes = [
  'cancelled',
  'invalid_input',
  'password_required',
  'engine_failed',
  'timed_out',
  'resource_limit',
  'worker_lost',
  'internal',
] as const;

export type FailureCode = (typeof failureCodes)[number];

interface FailureOptions {
  /** The given name of the file the failure is about. */
  file?: string | undefined;
  /** The engine's own last lines: for the log, never for the caller. */
  log?: string | undefined;
  cause?: unknown;
}

/**
 * A run that cannot succeed, told to its owner. `message` is a sentence for a person; `log` is for the operator.
 * Thrown by engines and tools; anything else they throw is `internal`.
 */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: FailureCode;
  readonly file: string | undefined;
  readonly log: string | undefined;

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.file = options.file;
    this.log = options.log;
  }
}
