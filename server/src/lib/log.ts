import { pino, type Logger } from 'pino';

export type Log = Logger;

/** Values that must never be written, wherever they turn up in a log line. */
const secrets = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  '*.authorization',
  '*.cookie',
  '*.password',
  '*.secret',
  '*.token',
  'req.headers.authorization',
  'req.headers.cookie',
];

/** JSON lines on standard error; standard output belongs to what a command prints. */
export function createLog(level: string): Log {
  return pino(
    { level, base: null, redact: { paths: secrets, censor: '[redacted]' }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
