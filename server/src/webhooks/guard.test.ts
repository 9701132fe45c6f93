import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { isPublic } from '../lib/outbound-address.ts';
import { createAddressGuard, type PostOptions } from './guard.ts';

const open: { close(): unknown }[] = [];
afterEach(() => Promise.all(open.splice(0).map((server) => server.close())));

async function listen(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({
    close: () => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      return server.close();
    },
  });
  return (server.address() as AddressInfo).port;
}

/** A receiver on the loopback address; what it got, and how it was called. */
async function receiver(answer: RequestListener = (_request, response) => response.end('ok')) {
  const requests: { request: IncomingMessage; body: string }[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    requests.push({ request, body: await text(request) });
    answer(request, response);
  };
  const server = createServer((request, response) => void receive(request, response as ServerResponse));
  const connections: Socket[] = [];
  server.on('connection', (socket) => connections.push(socket));
  const port = await listen(server);
  return { url: `http://127.0.0.1:${port}/hook`, port, requests, connections };
}

const message: PostOptions = { body: '{"ä":1}', headers: { 'Content-Type': 'application/json' }, timeoutMs: 2000 };
const local = createAddressGuard({ allow: ['127.0.0.1'] });

function resolvingTo(...addresses: string[]) {
  return async () => addresses;
}

describe('judge', () => {
  const guard = createAddressGuard({ allow: [], resolve: resolvingTo('93.184.216.34') });

  test.each([
    'https://example.com/hook',
    'http://example.com:8443/hook?token=1',
    'https://93.184.216.34/',
    'https://[2606:4700::1111]/',
  ])('accepts %s', async (url) => {
    expect(await guard.judge(url)).toBeUndefined();
  });

  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://１２７.０.０.１/',
    'http://127.0.0.1./',
    'http://0/',
    'http://10.0.0.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://172.16.0.1/',
    'http://172.31.255.255/',
    'http://192.0.0.8/',
    'http://192.168.1.1/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::127.0.0.1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:10.0.0.1]/',
    'http://[64:ff9b::127.0.0.1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001:0:7f00:1::]/',
    'http://[2001:db8::1]/',
    'http://[3fff::1]/',
    'http://[100::1]/',
    'http://[fc00::1]/',
    'http://[fd12:3456::1]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
  ])('refuses %s as not public', async (url) => {
    expect(await guard.judge(url)).toMatch(/is not public\.$/);
  });

  test.each([
    ['ftp://example.com/', 'must begin with'],
    ['file:///etc/passwd', 'must begin with'],
    ['javascript:alert(1)', 'must begin with'],
    ['https://user@example.com/', 'user name or a password'],
    ['https://:secret@example.com/', 'user name or a password'],
    ['example.com/hook', 'not valid'],
    ['https://', 'not valid'],
    ['', 'not valid'],
  ])('refuses %s', async (url, reason) => {
    expect(await guard.judge(url)).toContain(reason);
  });

  test('resolves names, and one private address among public ones is enough to refuse', async () => {
    const mixed = createAddressGuard({ allow: [], resolve: resolvingTo('93.184.216.34', '10.1.2.3') });
    expect(await mixed.judge('https://example.com/')).toBe('The address of example.com is not public.');
    const scoped = createAddressGuard({ allow: [], resolve: resolvingTo('fe80::1%eth0') });
    expect(await scoped.judge('https://example.com/')).toContain('not public');
  });

  test('localhost is refused whatever finds its address', async () => {
    const real = createAddressGuard({ allow: [] });
    for (const host of ['localhost', 'localhost.', 'LOCALHOST']) {
      expect(await real.judge(`http://${host}:8080/`)).toMatch(/not public|cannot be resolved/);
    }
  });

  test('says when a name has no address', async () => {
    const nowhere = createAddressGuard({ allow: [], resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await nowhere.judge('https://nowhere.example/')).toBe('The host name nowhere.example cannot be resolved.');
  });

  test('the operator may allow networks, addresses and names', async () => {
    const allowing = createAddressGuard({
      allow: ['10.1.0.0/16', '192.168.7.7', 'fd00::/8', 'Hooks.Internal.'],
      resolve: async (hostname) => (hostname === 'hooks.internal' ? ['172.16.0.9'] : ['10.1.2.3']),
    });
    for (const host of [
      '10.1.255.255',
      '192.168.7.7',
      '[fd00::1]',
      'hooks.internal',
      'HOOKS.internal.',
      'other.example',
    ]) {
      expect(await allowing.judge(`http://${host}/`)).toBeUndefined();
    }
    for (const host of ['10.2.0.0', '192.168.7.8', '[fc00::1]', '127.0.0.1', '172.16.0.9']) {
      expect(await allowing.judge(`http://${host}/`)).toContain('not public');
    }
  });

  test.each(['10.0.0.0/33', 'fd00::/129', '300.1.1.1', 'http://x', 'a b', '', 'a..b'])(
    'a mistaken entry of the allow list is told at the start: %j',
    (entry) => {
      expect(() => createAddressGuard({ allow: [entry] })).toThrow('neither an address, nor a CIDR, nor a host name');
    },
  );
});

test('what is no address is not public', () => {
  for (const text of ['', 'example.com', '1.2.3', '::g', '127.0.0.1 ']) expect(isPublic(text)).toBe(false);
  expect(isPublic('8.8.8.8')).toBe(true);
});

describe('post', () => {
  test('sends the body and the headers and reports the reply', async () => {
    const target = await receiver((_request, response) =>
      response
        .writeHead(202, [
          ['X-Seen', 'a'],
          ['X-Seen', 'b'],
        ])
        .end('queued\0'),
    );
    const outcome = await local.post(target.url, message);
    expect(outcome).toEqual({
      status: 202,
      response: {
        headers: expect.objectContaining({ 'x-seen': 'a, b' }),
        body: 'queued\uFFFD',
        truncated: false,
      },
      sentHeaders: {
        'content-type': 'application/json',
        'content-length': '8',
        'accept-encoding': 'identity',
        host: `127.0.0.1:${target.port}`,
      },
      durationMs: expect.any(Number),
    });
    const [got] = target.requests;
    expect(got?.body).toBe(message.body);
    expect(got?.request).toMatchObject({ method: 'POST', url: '/hook' });
    expect(got?.request.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '8',
      'accept-encoding': 'identity',
      host: `127.0.0.1:${target.port}`,
    });
  });

  test('dials the address it has checked, however the name resolves later', async () => {
    const target = await receiver();
    let asked = 0;
    const rebinding = createAddressGuard({
      allow: [],
      resolve: async () => [asked++ === 0 ? '93.184.216.34' : '127.0.0.1'],
    });
    expect(await rebinding.judge(`http://rebind.example:${target.port}/`)).toBeUndefined();
    const outcome = await rebinding.post(`http://rebind.example:${target.port}/`, message);
    expect(outcome).toEqual({
      error: 'The address of rebind.example is not public.',
      durationMs: expect.any(Number),
    });
    expect(asked).toBe(2);
    expect(target.connections).toHaveLength(0);
  });

  test('asks for the address once and keeps the name in the Host header', async () => {
    const target = await receiver();
    let asked = 0;
    const guard = createAddressGuard({
      allow: ['127.0.0.1'],
      resolve: async () => [asked++ === 0 ? '127.0.0.1' : '10.255.255.1'],
    });
    const outcome = await guard.post(`http://hooks.example:${target.port}/a?b=c`, message);
    expect(outcome.status).toBe(200);
    expect(asked).toBe(1);
    expect(target.requests[0]?.request.headers.host).toBe(`hooks.example:${target.port}`);
  });

  test('names the host in the TLS handshake', async () => {
    const hello = Promise.withResolvers<string>();
    const port = await listen(
      createTcpServer((socket) => {
        socket.once('data', (bytes: Buffer) => {
          hello.resolve(bytes.toString('latin1'));
          socket.destroy();
        });
      }),
    );
    const guard = createAddressGuard({ allow: ['127.0.0.1'], resolve: resolvingTo('127.0.0.1') });
    const outcome = await guard.post(`https://hooks.example:${port}/`, message);
    expect(await hello.promise).toContain('hooks.example');
    expect(outcome.status).toBeUndefined();
    expect(outcome.error).toBeDefined();
  });

  test('opens a connection for every try', async () => {
    const target = await receiver((_request, response) => {
      response.setHeader('Connection', 'keep-alive').end('ok');
    });
    await local.post(target.url, message);
    await local.post(target.url, message);
    expect(target.connections).toHaveLength(2);
    await expect.poll(() => target.connections.every((socket) => socket.destroyed)).toBe(true);
  });

  test('does not follow a redirect', async () => {
    const secret = await receiver();
    const target = await receiver((_request, response) => response.writeHead(307, { Location: secret.url }).end());
    expect(await local.post(target.url, message)).toMatchObject({ status: 307, response: { body: '' } });
    expect(secret.requests).toHaveLength(0);
  });

  test('reads 4 kB of an endless reply and hangs up', async () => {
    const target = await receiver((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        if (!response.destroyed) response.once('drain', write);
      };
      write();
    });
    const outcome = await local.post(target.url, message);
    expect(outcome).toMatchObject({ status: 200, response: { body: 'x'.repeat(4096), truncated: true } });
    expect(outcome.durationMs).toBeLessThan(1500);
    await expect.poll(() => target.connections[0]?.destroyed).toBe(true);
  });

  test('says that a body was cut only when it was, and leaves out a character that the cut goes through', async () => {
    const bodies = ['x'.repeat(4096), `${'x'.repeat(4095)}ä`, ''];
    const target = await receiver((_request, response) => response.end(bodies[target.requests.length - 1]));
    const responses = [];
    for (const _ of bodies) responses.push((await local.post(target.url, message)).response);
    expect(responses).toMatchObject([
      { body: 'x'.repeat(4096), truncated: false },
      { body: 'x'.repeat(4095), truncated: true },
      { body: '', truncated: false },
    ]);
  });

  test('keeps at most 4 kB of the headers', async () => {
    const target = await receiver((_request, response) => {
      for (let header = 0; header < 10; header++) response.setHeader(`X-Long-${header}`, 'y'.repeat(1000));
      response.end();
    });
    const { response } = await local.post(target.url, message);
    expect(Object.keys(response?.headers ?? {})).toEqual(['x-long-0', 'x-long-1', 'x-long-2', 'x-long-3']);
  });

  test('a receiver that never answers is given up at the limit', async () => {
    const target = await receiver(() => undefined);
    const outcome = await local.post(target.url, { ...message, timeoutMs: 150 });
    expect(outcome).toEqual({
      error: 'The receiver did not answer in time.',
      sentHeaders: expect.any(Object),
      durationMs: expect.any(Number),
    });
    expect(outcome.durationMs).toBeGreaterThanOrEqual(140);
    expect(outcome.durationMs).toBeLessThan(1500);
    await expect.poll(() => target.connections[0]?.destroyed).toBe(true);
  });

  test('headers that drip do not stretch the limit', async () => {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.write('HTTP/1.1 200 OK\r\n');
      const drip = setInterval(() => socket.write('X-A: b\r\n'), 20);
      socket.on('close', () => clearInterval(drip));
    });
    const port = await listen(server);
    const outcome = await local.post(`http://127.0.0.1:${port}/`, { ...message, timeoutMs: 200 });
    expect(outcome.error).toBe('The receiver did not answer in time.');
    expect(outcome.durationMs).toBeLessThan(1500);
  });

  test('a body that drips ends at the limit with the status that came', async () => {
    const target = await receiver((_request, response) => {
      response.write('slow');
    });
    const outcome = await local.post(target.url, { ...message, timeoutMs: 200 });
    expect(outcome).toMatchObject({ status: 200, response: { body: 'slow', truncated: false } });
    expect(outcome.durationMs).toBeLessThan(1500);
  });

  test('a name server that does not answer is given up at the limit', async () => {
    const guard = createAddressGuard({ allow: [], resolve: () => new Promise(() => undefined) });
    const outcome = await guard.post('https://slow.example/', { ...message, timeoutMs: 100 });
    expect(outcome.error).toBe('The receiver did not answer in time.');
  });

  test('stops when its caller stops', async () => {
    const target = await receiver(() => undefined);
    const controller = new AbortController();
    const outcome = local.post(target.url, { ...message, signal: controller.signal });
    await expect.poll(() => target.requests.length).toBe(1);
    controller.abort();
    expect(await outcome).toMatchObject({ error: 'The delivery was interrupted.' });
    expect(await local.post(target.url, { ...message, signal: AbortSignal.abort() })).toMatchObject({
      error: 'The delivery was interrupted.',
    });
    expect(target.requests).toHaveLength(1);
  });

  test.each([
    ['garbage', 'not http at all\r\n\r\n', /not valid HTTP/],
    ['nothing', '', /closed the connection/],
    [
      'a switch of protocols',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
      /closed the connection/,
    ],
  ])('a receiver that says %s is an outcome', async (_what, reply, error) => {
    const port = await listen(
      createTcpServer((socket) => {
        socket.on('error', () => undefined);
        socket.once('data', () => socket.end(reply));
      }),
    );
    const outcome = await local.post(`http://127.0.0.1:${port}/`, message);
    expect(outcome.status).toBeUndefined();
    expect(outcome.error).toMatch(error);
  });

  test('nobody there, no TLS there, a broken URL: outcomes', async () => {
    const target = await receiver();
    const closed = createTcpServer();
    const port = await listen(closed);
    closed.close();
    expect(await local.post(`http://127.0.0.1:${port}/`, message)).toMatchObject({
      error: 'The receiver refused the connection.',
    });
    expect((await local.post(target.url.replace('http:', 'https:'), message)).error).toMatch(/secure connection/);
    expect(await local.post('nonsense', message)).toMatchObject({ error: 'The URL is not valid.' });
  });

  test('a compressed reply is not decompressed', async () => {
    const target = await receiver((_request, response) => response.setHeader('Content-Encoding', 'gzip').end('plain'));
    expect((await local.post(target.url, message)).response?.body).toBe('plain');
  });
});
