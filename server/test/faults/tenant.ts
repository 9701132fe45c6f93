import { createClient, type Client } from '../client.ts';
import { openRaw, multipart, multipartType, requestHead } from '../raw-http.ts';
import { eventually, storedFiles } from '../scenario.ts';
import type { TestServer } from '../server.ts';

/** An account with a webhook, whose token outlives the server it was made on. */
export interface Tenant {
  token: string;
  client: Client;
}

/** Environment of every server here: two runs at once, the shortest window, receivers on loopback. */
export const env = { MILLRUN_SLOTS: '2', MILLRUN_CANCEL_WINDOW_S: '3', MILLRUN_WEBHOOK_ALLOW: '127.0.0.1' };

/** Nobody listens there: what counts is the stored delivery. */
const deafReceiver = 'http://127.0.0.1:9/events';

export async function newTenant(server: TestServer, receiver = deafReceiver): Promise<Tenant> {
  const token = await server.token();
  const client = createClient(server.base, token);
  const response = await client.request('/webhooks', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ url: receiver, events: ['run.completed', 'run.failed'] }),
  });
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return { token, client };
}

/** A run of a few seconds: each code is a picture of its own. */
export async function submitLasting(client: Client, codes = 40): Promise<string> {
  const content = Array.from({ length: codes }, (_, line) => `line ${line}`).join('\n');
  return (await client.accepted('qr-code-generator', [{ filename: 'list.txt', content }], { size: '1024' })).id;
}

/** An upload that has begun, has left its traces in the store and does not go on. */
export async function beginUpload(server: TestServer, { token }: Tenant): Promise<void> {
  const before = (await storedFiles(server)).length;
  const part = { disposition: 'name="files[]"; filename="list.txt"', content: 'a line\n'.repeat(600_000) };
  const body = multipart([part], { ended: false });
  const head = requestHead('POST /api/v2/tools/qr-code-generator', {
    Authorization: `Bearer ${token}`,
    'Content-Type': multipartType,
    'Content-Length': String(body.length + 1000),
  });
  await openRaw(server.origin, Buffer.concat([Buffer.from(head), body]));
  await eventually('a part of the upload is stored', async () => (await storedFiles(server)).length > before);
}
