import { beforeAll, describe, expect, test } from 'vitest';
import type { Tool, ToolList } from '@millrun/sdk';
import { categories } from '../../src/tools/define.ts';
import { allEngines, reservedFields } from '../../src/tools/registry.ts';
import { keptFixture } from '../image-fixtures.ts';
import type { Client } from '../client.ts';
import { errorOf, queryDatabase, quick, useServer } from '../scenario.ts';

async function listTools(client: Client, query = ''): Promise<ToolList> {
  const response = await client.request(`/tools${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as ToolList;
}

describe('the list of tools', () => {
  const scenario = useServer();
  let client: Client;
  let list: ToolList;
  beforeAll(async () => {
    client = await scenario.client();
    list = await listTools(client);
  });

  test('gives every tool a slug, a name and a category', () => {
    expect(list.data.length).toBeGreaterThan(0);
    for (const { slug, name, category } of list.data) {
      expect(slug).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(name).toMatch(/\S/);
      expect(categories).toContain(category);
    }
    expect(new Set(list.data.map(({ slug }) => slug)).size).toBe(list.data.length);
    expect(list.meta).toEqual({ count: list.data.length });
  });

  test('says of every tool what it takes, makes and can be told', () => {
    for (const tool of list.data) {
      expect(tool.description, tool.slug).toMatch(/\.$/);
      expect(tool.min_files, tool.slug).toBeLessThanOrEqual(tool.max_files);
      expect(tool.settings, tool.slug).toMatchObject({ type: 'object', additionalProperties: false });
      // A tool without files accepts nothing.
      for (const types of tool.max_files === 0 ? [tool.produces] : [tool.accepts, tool.produces]) {
        if (types === 'any') continue;
        expect(types.media_types.length, tool.slug).toBeGreaterThan(0);
        expect(types.extensions.length, tool.slug).toBeGreaterThan(0);
      }
      expect(Object.hasOwn(tool, 'unavailable_reason'), tool.slug).toBe(!tool.available);
    }
  });

  test('has the image compressor with its whole number "quality"', () => {
    const compressor = list.data.find(({ slug }) => slug === 'image-compressor');
    expect(compressor).toMatchObject({ category: 'image', min_files: 1 });
    expect(compressor?.accepts).toMatchObject({ media_types: expect.arrayContaining(['image/jpeg', 'image/png']) });
    expect(compressor?.settings).toHaveProperty('properties.quality', {
      type: 'integer',
      minimum: 1,
      maximum: 100,
      default: 80,
      description: expect.any(String),
    });
  });

  test('has no setting whose name says where inputs come from', () => {
    const names = list.data.flatMap(({ settings }) => Object.keys(settings['properties'] as object));
    expect(names).toContain('quality');
    for (const reserved of reservedFields) expect(names).not.toContain(reserved);
  });

  test('can be narrowed to a category', async () => {
    const { data, meta } = await listTools(client, '?category=pdf');
    expect(data).toEqual(list.data.filter(({ category }) => category === 'pdf'));
    expect(data.length).toBeGreaterThan(0);
    expect(meta.count).toBe(data.length);
    expect(await listTools(client, '?category=nothing')).toEqual({ data: [], meta: { count: 0 } });
  });

  test('can be searched for words in any case', async () => {
    const { data } = await listTools(client, '?q=QR%20code%20gen');
    expect(data.map(({ slug }) => slug)).toEqual(['qr-code-generator']);
    const both = await listTools(client, '?q=image&category=pdf');
    expect(both.data.map(({ slug }) => slug)).toContain('pdf-to-image-converter');
    expect(both.data.every(({ category }) => category === 'pdf')).toBe(true);
  });

  test('is not sent again to a client that has it', async () => {
    const etag = (await client.request('/tools')).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    // A proxy that compresses makes a tag weak, and a client may hold several versions.
    for (const known of [etag, `W/${etag}`, `"older", ${etag}`, '*']) {
      const response = await client.request('/tools', { headers: { 'If-None-Match': known } });
      expect(response.status, known).toBe(304);
      expect(await response.text()).toBe('');
      expect(response.headers.get('etag')).toBe(etag);
    }
  });

  test('is sent to a client that has another version or another part of it', async () => {
    const etag = (await client.request('/tools')).headers.get('etag') ?? '';
    const older = await client.request('/tools', { headers: { 'If-None-Match': '"older"' } });
    expect(older.status).toBe(200);
    const part = await client.request('/tools?category=pdf', { headers: { 'If-None-Match': etag } });
    expect(part.status).toBe(200);
  });

  test('describes one tool as it does in the list', async () => {
    for (const tool of list.data) {
      const response = await client.request(`/tools/${tool.slug}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(tool);
    }
  });

  test('does not know a slug that nobody offers, to look at or to run', async () => {
    for (const slug of ['no-such-tool', 'constructor', '..', 'image-compressor%2F..', 'Image-Compressor']) {
      expect(await errorOf(await client.request(`/tools/${slug === '..' ? '%2e%2e%2f' : slug}`), 404)).toMatchObject({
        code: 'not_found',
      });
    }
    expect(await errorOf(await client.submit('no-such-tool', quick.files, quick.settings), 404)).toMatchObject({
      code: 'not_found',
    });
  });
});

describe('tools whose engines are missing where runs execute', () => {
  // Nothing executes here: what workers can do is what they have reported.
  const scenario = useServer({ role: 'api' });
  let client: Client;
  beforeAll(async () => (client = await scenario.client()));

  const report = (engines: readonly string[], sandbox: string) =>
    queryDatabase(
      scenario.server,
      `insert into workers (number, sandbox, engines) values (1, $1, $2)
       on conflict (number) do update set sandbox = excluded.sandbox, engines = excluded.engines`,
      [sandbox, JSON.stringify(Object.fromEntries(engines.map((id) => [id, '1.0'])))],
    );
  const allIds = () => allEngines().map(({ id }) => id);
  /** The service looks again at what the workers can do every two seconds. */
  const whenOffered = (slug: string, available: boolean) =>
    expect
      .poll(async () => ((await (await client.request(`/tools/${slug}`)).json()) as Tool).available, {
        timeout: 10_000,
      })
      .toBe(available);

  test('are all refused while there is no worker, with 503 and the way to start one', async () => {
    const { data } = await listTools(client);
    expect(data.map(({ available }) => available)).not.toContain(true);
    expect(data[0]?.unavailable_reason).toContain('millrun worker');
    const response = await client.submit(quick.tool, quick.files, quick.settings);
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const error = await errorOf(response, 503);
    expect(error.code).toBe('tool_unavailable');
    expect(error.message).toContain('millrun worker');
  });

  test('are refused one by one, naming what to install', async () => {
    await report(
      allIds().filter((id) => id !== 'qrcode'),
      'bubblewrap',
    );
    await whenOffered('image-compressor', true);
    const { data } = await listTools(client);
    const refused = data.filter(({ available }) => !available);
    expect(refused.map(({ slug }) => slug)).toEqual(['qr-code-generator']);
    const error = await errorOf(await client.submit(quick.tool, quick.files, quick.settings), 503);
    expect(error.code).toBe('tool_unavailable');
    expect(error.message).toContain(refused[0]?.unavailable_reason);
  });

  test('are refused for the settings alone that need them', async () => {
    await report(
      allIds().filter((id) => id !== 'heif-enc'),
      'bubblewrap',
    );
    await whenOffered('qr-code-generator', true);
    const photo = keptFixture('thumbnail.jpg');
    const heic = await errorOf(await client.submit('image-converter', [photo], { format: 'heic' }), 503);
    expect(heic.message).toContain('apt-get install -y libheif-examples');
    const webp = await client.submit('image-converter', [photo], { format: 'webp' });
    expect(webp.status).toBe(202);
  });

  test('are offered by several workers only where every one of them has the engine', async () => {
    await report(allIds(), 'bubblewrap');
    await whenOffered('qr-code-generator', true);
    await queryDatabase(
      scenario.server,
      `insert into workers (number, sandbox, engines) values (2, 'bubblewrap', $1)`,
      [JSON.stringify({ sharp: '1.0' })],
    );
    await whenOffered('qr-code-generator', false);
  });
});
