import { beforeAll, describe, expect, test } from 'vitest';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Submission, WebhookWithSecret } from '@millrun/sdk';
import type { Client } from '../client.ts';
import { cancel, quick, startSlow, submitQuick, useServer } from '../scenario.ts';

const scenario = useServer({ env: { MILLRUN_WEBHOOK_ALLOW: '127.0.0.1/32' } });

interface Operation {
  summary?: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: object }> }>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Operation>>;
  security?: object[];
  components?: { securitySchemes?: Record<string, object> };
}

let document: Document;
beforeAll(async () => {
  const response = await fetch(`${scenario.server.base}/openapi.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  document = (await response.json()) as Document;
});

const prefix = '/api/v2';
/** What the specification and its additions name; every one needs a token. */
const routes = [
  'GET /tools',
  'GET /tools/{slug}',
  'POST /tools/{slug}',
  'GET /runs',
  'GET /runs/{id}',
  'POST /runs/{id}/cancel',
  'DELETE /runs/{id}',
  'GET /runs/{id}/stream',
  'POST /runs/{id}/retry',
  'GET /runs/{id}/archive',
  'GET /usage',
  'GET /usage/history',
  'POST /webhooks',
  'GET /webhooks',
  'GET /webhooks/{id}',
  'PATCH /webhooks/{id}',
  'DELETE /webhooks/{id}',
  'POST /webhooks/{id}/test',
  'POST /webhooks/{id}/rotate-secret',
  'GET /webhooks/{id}/deliveries',
  'GET /webhooks/{id}/deliveries/{delivery}',
  'POST /webhooks/{id}/deliveries/{delivery}/redeliver',
];

function operation(route: string): Operation {
  const [method = '', path = ''] = route.split(' ');
  const found = document.paths[prefix + path]?.[method.toLowerCase()];
  if (found === undefined) throw new Error(`${route} is not described`);
  return found;
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    const result = await new Validator().validate(structuredClone(document) as unknown as Record<string, unknown>);
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test('can be read without a token and describes the one that everything else needs', () => {
    expect(document.components?.securitySchemes).toEqual({
      token: expect.objectContaining({ type: 'http', scheme: 'bearer' }),
    });
    expect(document.security).toEqual([{ token: [] }]);
  });

  test('has every route of the specification, with a summary, its parameters and its errors', () => {
    for (const route of routes) {
      const { summary, parameters = [], responses } = operation(route);
      expect(summary, route).toMatch(/\S/);
      const inPath = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      expect(
        parameters.filter((one) => one.in === 'path').map(({ name }) => name),
        route,
      ).toEqual(inPath);
      const statuses = Object.keys(responses);
      expect(statuses, route).toEqual(expect.arrayContaining(['401', '403', '429']));
      if (inPath.length > 0) expect(statuses, route).toContain('404');
    }
  });

  test('has no route that is not there', async () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(prefix, '')}`),
    );
    expect(described.toSorted()).toEqual(routes.toSorted());
  });

  test('describes the form of a submission: files[] and settings', () => {
    const { requestBody, responses } = operation('POST /tools/{slug}');
    const { schema } = requestBody?.content['multipart/form-data'] ?? {};
    expect(schema).toMatchObject({ properties: { 'files[]': { type: 'array', items: { format: 'binary' } } } });
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['202', '400', '404', '413', '422', '503']));
  });

  test('describes the list’s limit and cursor', () => {
    const names = operation('GET /runs').parameters?.map(({ name }) => name);
    expect(names?.toSorted()).toEqual(['cursor', 'limit', 'status', 'tool']);
  });
});

describe('what the server answers', () => {
  let client: Client;
  beforeAll(async () => (client = await scenario.client('pro')));

  /** Judges a reply by what the document says of its route and status; unknown fields are a mistake of the document. */
  async function expectDescribed(route: string, response: Response): Promise<unknown> {
    const described = operation(route).responses[String(response.status)];
    expect(described, `${route} ${response.status}`).toBeDefined();
    if (response.status === 204) return undefined;
    const body: unknown = await response.json();
    const { schema } = described?.content?.['application/json'] ?? {};
    expect(schema, `${route} ${response.status}`).toBeDefined();
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default(ajv);
    const validate = ajv.compile(closed(schema ?? {}));
    validate(body);
    expect(validate.errors ?? [], `${route} ${response.status}: ${JSON.stringify(body).slice(0, 300)}`).toEqual([]);
    return body;
  }

  /** The schema with every object closed that does not say what else it may hold. */
  function closed(schema: unknown): object {
    return JSON.parse(JSON.stringify(schema), (_key, value: Record<string, unknown>) =>
      value?.['type'] === 'object' && value['properties'] !== undefined && value['additionalProperties'] === undefined
        ? { ...value, additionalProperties: false }
        : value,
    ) as object;
  }

  const json = { 'Content-Type': 'application/json' };

  test('is as it is described, in every state of a run', async () => {
    const submitted = await client.submit(quick.tool, quick.files, quick.settings);
    const { id } = (await expectDescribed('POST /tools/{slug}', submitted)) as Submission;
    await client.finished(id);
    const slow = await startSlow(client);
    await expectDescribed('GET /runs/{id}', await client.request(`/runs/${slow}`));
    await expectDescribed('POST /runs/{id}/cancel', await client.request(`/runs/${slow}/cancel`, { method: 'POST' }));
    await expectDescribed('GET /runs/{id}', await client.request(`/runs/${slow}`));
    await expectDescribed('DELETE /runs/{id}', await client.request(`/runs/${slow}`, { method: 'DELETE' }));
    const queued = await submitQuick(client);
    await expectDescribed('GET /runs/{id}', await client.request(`/runs/${queued}`));
    await client.finished(queued);
    await expectDescribed('GET /runs', await client.request('/runs'));
    await expectDescribed('GET /runs', await client.request('/runs?limit=1'));
    await expectDescribed('POST /runs/{id}/retry', await client.request(`/runs/${id}/retry`, { method: 'POST' }));
    await expectDescribed('DELETE /runs/{id}', await client.request(`/runs/${id}`, { method: 'DELETE' }));
    await expectDescribed('GET /runs/{id}', await client.request(`/runs/${id}`));
  });

  test('is as it is described, for tools, usage and errors', async () => {
    await expectDescribed('GET /tools', await client.request('/tools'));
    await expectDescribed('GET /tools/{slug}', await client.request('/tools/image-compressor'));
    await expectDescribed('GET /tools/{slug}', await client.request('/tools/nothing'));
    await expectDescribed('GET /usage', await client.request('/usage'));
    await expectDescribed('GET /usage', await fetch(`${scenario.server.base}/usage`));
    await expectDescribed('GET /usage', await (await scenario.client('free')).request('/usage'));
    const measured = await client.finished(await submitQuick(client));
    expect(measured.status).toBe('done');
    await expectDescribed('GET /usage/history', await client.request('/usage/history'));
    await expectDescribed('GET /usage/history', await client.request('/usage/history?days=0'));
    await expectDescribed('GET /runs', await client.request('/runs?limit=0'));
    await expectDescribed('POST /tools/{slug}', await client.submit(quick.tool, quick.files, {}));
    await expectDescribed('POST /tools/{slug}', await client.submit('image-compressor', []));
    const slow = await startSlow(client);
    await expectDescribed('GET /runs/{id}/archive', await client.request(`/runs/${slow}/archive`));
    await cancel(client, slow);
  });

  test('is as it is described, for webhooks', async () => {
    const body = JSON.stringify({ url: 'http://127.0.0.1:9/hook', events: ['run.completed'] });
    const made = await client.request('/webhooks', { method: 'POST', body, headers: json });
    const { id } = (await expectDescribed('POST /webhooks', made)) as WebhookWithSecret;
    const at = `/webhooks/${id}`;
    await expectDescribed(
      'POST /webhooks',
      await client.request('/webhooks', { method: 'POST', body: '{}', headers: json }),
    );
    await expectDescribed(
      'POST /webhooks',
      await client.request('/webhooks', { method: 'POST', body: '{', headers: json }),
    );
    await expectDescribed('GET /webhooks', await client.request('/webhooks'));
    await expectDescribed('GET /webhooks/{id}', await client.request(at));
    await expectDescribed(
      'PATCH /webhooks/{id}',
      await client.request(at, { method: 'PATCH', body: '{"enabled":true}', headers: json }),
    );
    const sent = await client.request(`${at}/test`, { method: 'POST' });
    const delivery = (await expectDescribed('POST /webhooks/{id}/test', sent)) as { id: string };
    await expectDescribed('GET /webhooks/{id}/deliveries', await client.request(`${at}/deliveries`));
    await expectDescribed(
      'GET /webhooks/{id}/deliveries/{delivery}',
      await client.request(`${at}/deliveries/${delivery.id}`),
    );
    await expectDescribed(
      'POST /webhooks/{id}/deliveries/{delivery}/redeliver',
      await client.request(`${at}/deliveries/${delivery.id}/redeliver`, { method: 'POST' }),
    );
    await expectDescribed(
      'POST /webhooks/{id}/rotate-secret',
      await client.request(`${at}/rotate-secret`, { method: 'POST' }),
    );
    await expectDescribed('DELETE /webhooks/{id}', await client.request(at, { method: 'DELETE' }));
  });
});

describe('the reference page', () => {
  /** Every address that the markup makes a browser load or go to. */
  const addressesIn = (html: string) =>
    [...html.matchAll(/(?:src|href|action)\s*=\s*["']?([^"'\s>]+)|url\(["']?([^"')]+)/gi)].map(
      ([, one, other]) => one ?? other ?? '',
    );

  test('loads at /docs with nothing from another host', async () => {
    const response = await fetch(`${scenario.server.origin}/docs`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/html/);
    const html = await response.text();
    expect(html).toContain(`${prefix}/openapi.json`);
    expect(html).not.toMatch(/(https?:)?\/\/(?!127\.0\.0\.1)[a-z0-9.-]+\.[a-z]{2,}/i);
    for (const address of addressesIn(html)) expect(new URL(address, response.url).origin).toBe(scenario.server.origin);

    const parts = addressesIn(html.replaceAll(/<a\s[^>]*>/g, ''));
    let bytes = 0;
    for (const address of parts) {
      const part = await fetch(new URL(address, response.url));
      expect(part.status, address).toBe(200);
      bytes += (await part.arrayBuffer()).byteLength;
    }
    expect(bytes).toBeGreaterThan(1e6); // The library is really there.
  });

  test('lets no script run but those of this server, and nobody frame it', async () => {
    const response = await fetch(`${scenario.server.origin}/docs`);
    const policy = response.headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]),
    );
    expect(await response.text()).not.toMatch(/<script(?![^>]*\ssrc=)|\son\w+\s*=|javascript:/i);
  });

  test('sends its library once, compressed for those who take it so', async () => {
    const address = `${scenario.server.origin}/docs/scalar.js`;
    const plain = await fetch(address, { headers: { 'Accept-Encoding': 'identity' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const packed = await fetch(address, { headers: { 'Accept-Encoding': 'br, gzip' } });
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(1.5e6);
    expect(await packed.text()).toBe(await plain.text());

    const again = await fetch(address, { headers: { 'If-None-Match': packed.headers.get('etag') ?? '' } });
    expect(again.status).toBe(304);
  });

  test('is told from the start page, which leads to it', async () => {
    const response = await fetch(scenario.server.origin);
    expect(response.status).toBe(200);
    const html = await response.text();
    const inner = addressesIn(html).map((address) => new URL(address, response.url));
    expect(inner.map(({ pathname }) => pathname.replace(/\/$/, ''))).toContain('/docs');
    for (const { origin } of inner) expect(origin).toBe(scenario.server.origin);
  });
});
