import { createClient, type Millrun } from '../client.ts';
import { Refusal } from './refusal.ts';

interface ConnectionOptions {
  url?: string | undefined;
  token?: string | undefined;
}

/** What the environment says; the one place of the command line that reads it. */
const environment = () => ({ url: process.env['MILLRUN_URL'], token: process.env['MILLRUN_TOKEN'] });

const standardUrl = 'http://127.0.0.1:8080';
/** Somebody waits at the terminal: a server that is not there is said at once. */
const maxRetries = 2;

/** A client of the server that options, or else the environment, name. */
export function connect(options: ConnectionOptions): Millrun {
  const given = environment();
  const url = options.url ?? (given.url || standardUrl);
  // A token often comes from a file, with its line end.
  const token = (options.token ?? given.token ?? '').trim();
  if (token === '')
    throw new Refusal(
      'There is no API token: set MILLRUN_TOKEN or use --token. `millrun token create` makes one on the server.',
    );
  try {
    return createClient({ baseUrl: url, token, maxRetries });
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal(`The address or the token cannot be used: ${error.message}.`);
    throw error;
  }
}
