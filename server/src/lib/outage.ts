import { AppError, errorCode, toError } from './errors.ts';

/** Whether an error says that the database cannot be reached or is going away, so that the same call may work later. */
export function isOutage(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== undefined && /^(08|57P|53|40|25006|25P03|ECONN|ENOENT|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code))
    return true;
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client was closed|not queryable/.test(
    toError(error).message,
  );
}

export function databaseUnavailable(cause: unknown): AppError {
  return new AppError(503, 'database_unavailable', 'The database cannot be reached just now; try again in a moment.', {
    headers: { 'Retry-After': '2' },
    cause,
  });
}
