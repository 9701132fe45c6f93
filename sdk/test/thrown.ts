import { expect } from 'vitest';
import { MillrunError } from '../src/errors.ts';

/** What a promise is rejected with, which must be a `MillrunError`. */
export async function thrownBy(promise: Promise<unknown>): Promise<MillrunError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MillrunError);
  return error as MillrunError;
}
