interface Refusal {
  status: number;
  meaning: string;
  remedy: string;
}

/** The errors that a program meets, by status. `/docs` has them all. */
export const refusals: readonly Refusal[] = [
  { status: 400, meaning: 'The request cannot be read.', remedy: 'Mend the request.' },
  {
    status: 401,
    meaning: 'The token is missing, mistyped, expired or revoked.',
    remedy: 'Make a new token.',
  },
  { status: 403, meaning: 'The plan has no API access.', remedy: 'Ask the operator for another plan.' },
  {
    status: 404,
    meaning: 'There is no such tool or run.',
    remedy: 'Check the address. What belongs to another account is 404 too.',
  },
  {
    status: 409,
    meaning: 'The state of the run does not allow it.',
    remedy: 'Wait retry_after_s seconds; 0 means that waiting does not help.',
  },
  { status: 413, meaning: 'A file, or all of them, is too large.', remedy: 'The message names the limit.' },
  {
    status: 422,
    meaning: 'A setting or the type of a file breaks a rule.',
    remedy: 'errors has a list of sentences for each field.',
  },
  {
    status: 429,
    meaning: 'Too many requests in this minute, or the runs of the day are used up.',
    remedy: 'Wait as long as Retry-After says.',
  },
  {
    status: 503,
    meaning: 'Something the request needs is not there just now.',
    remedy: 'Try again after Retry-After, with the same Idempotency-Key.',
  },
];
