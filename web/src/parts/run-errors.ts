import type { RunErrorCode } from '@millrun/sdk';

export interface RunErrorMeaning {
  title: string;
  /** What it means for the person, and what to do. */
  meaning: string;
  /** Whether the same files with the same settings may do better another time. */
  worthAnotherTry: boolean;
}

const meanings: Readonly<Record<RunErrorCode, RunErrorMeaning>> = {
  cancelled: {
    title: 'Cancelled',
    meaning: 'The run was stopped before its end. Nothing was kept of its result.',
    worthAnotherTry: true,
  },
  invalid_input: {
    title: 'The file cannot be used',
    meaning: 'The file is damaged, lacks what the tool needs, or does not go with these settings. Change one of them.',
    worthAnotherTry: false,
  },
  password_required: {
    title: 'A password is needed',
    meaning: 'The file is encrypted, and the password is missing or wrong. Enter it in the settings.',
    worthAnotherTry: false,
  },
  engine_failed: {
    title: 'The file could not be processed',
    meaning: 'The program that does the work gave up on this file. Other settings or a newly saved file may help.',
    worthAnotherTry: true,
  },
  timed_out: {
    title: 'It took too long',
    meaning: 'The run reached the time limit of the tool. Send fewer or smaller files, or choose faster settings.',
    worthAnotherTry: true,
  },
  resource_limit: {
    title: 'It needed too much',
    meaning: 'The run reached its limit of memory, disk or outputs. Send fewer or smaller files.',
    worthAnotherTry: false,
  },
  worker_lost: {
    title: 'The worker was lost',
    meaning: 'The machine that did the work went away twice. This is no fault of the file.',
    worthAnotherTry: true,
  },
  internal: {
    title: 'Something went wrong on the server',
    meaning:
      'This is a fault of the service, not of the file. If it happens again, tell the operator the id of the run.',
    worthAnotherTry: true,
  },
};

/** What an error code of a run means; a code that a newer server added gets the meaning of `internal`. */
export function meaningOf(code: RunErrorCode): RunErrorMeaning {
  return meanings[code] ?? meanings.internal;
}
