import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import sharp from 'sharp';
import type { Submission } from '@millrun/sdk';
import { systemClock } from '../../src/lib/clock.ts';
import type { Client } from '../client.ts';
import { grain, quarters } from '../image-fixtures.ts';
import { multipart, multipartType } from '../raw-http.ts';
import { errorOf, getRun, quick, useServer } from '../scenario.ts';

const scenario = useServer();
let client: Client;
let photo: { filename: string; content: Buffer };
beforeAll(async () => {
  client = await scenario.client();
  photo = { filename: 'photo.jpg', content: await (await grain(160, 120)).jpeg({ quality: 95 }).toBuffer() };
});
const pdfFixture = (name: string) => join(import.meta.dirname, '../fixtures/pdf', name);

test('an accepted run is answered at once with its id, "queued" and its address', async () => {
  const before = systemClock.now().getTime();
  const response = await client.submit('image-compressor', [photo], { quality: '40' });
  expect(response.status).toBe(202);
  const body = (await response.json()) as Submission;
  const { base } = scenario.server;
  expect(body).toEqual({
    id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
    status: 'queued',
    status_url: `${base}/runs/${body.id}`,
    stream_url: `${base}/runs/${body.id}/stream`,
    tool: 'image-compressor',
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  expect(response.headers.get('location')).toBe(body.status_url);
  expect(Date.parse(body.created_at)).toBeGreaterThanOrEqual(before);
  expect(Date.parse(body.created_at)).toBeLessThanOrEqual(systemClock.now().getTime());
});

test('the addresses of a run are the ones the request came to', async () => {
  const { port } = new URL(scenario.server.origin);
  const elsewhere = `http://localhost:${port}/api/v2`;
  const form = new FormData();
  form.append('text', 'hello');
  const { status_url } = (await (
    await client.request(`${elsewhere}/tools/qr-code-generator`, { method: 'POST', body: form })
  ).json()) as Submission;
  expect(status_url).toMatch(`${elsewhere}/runs/run_`);
  expect((await client.request(status_url)).status).toBe(200);
});

test('its outputs are there when it is done: name, address, size, type and checksum', async () => {
  const { id } = await client.accepted('image-compressor', [photo], { quality: '40' });
  const run = await client.finished(id);
  expect(run.status).toBe('done');
  expect(run.tool).toBe('image-compressor');
  const [output, ...others] = run.outputs ?? [];
  if (output === undefined) throw new Error('there is no output');
  expect(others).toEqual([]);

  const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer());
  expect(output).toEqual({
    filename: 'photo.jpg',
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/v2\//),
    size_bytes: bytes.length,
    media_type: 'image/jpeg',
    sha256: createHash('sha256').update(bytes).digest('hex'),
  });
  expect(bytes.length).toBeLessThan(photo.content.length);
  expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 160, height: 120 });
});

test('settings are form fields, and the run shows every one that is in force', async () => {
  const { id } = await client.accepted('image-compressor', [photo], { quality: '40', strip_metadata: 'no' });
  expect((await getRun(client, id)).settings).toMatchObject({
    quality: 40,
    strip_metadata: false,
    mode: 'quality',
    format: 'keep',
  });
});

test('an empty form field is a setting that was not sent', async () => {
  const { id } = await client.accepted('image-compressor', [photo], { quality: '', max_width: '' });
  const { settings } = await getRun(client, id);
  expect(settings).toMatchObject({ quality: 80 });
  expect(settings).not.toHaveProperty('max_width');
});

test('a tool that needs no file takes a form without one', async () => {
  const { id } = await client.accepted(quick.tool, quick.files, quick.settings);
  const run = await client.finished(id);
  expect(run).toMatchObject({ status: 'done', inputs: [] });
  const [output] = run.outputs ?? [];
  const picture = Buffer.from(await (await fetch(output?.url ?? '')).arrayBuffer());
  expect(await sharp(picture).metadata()).toMatchObject({ format: 'png', width: 512, height: 512 });
});

test('an output keeps the stem of its input and has the extension of its own format', async () => {
  const { id } = await client.accepted('image-converter', [{ ...photo, filename: 'Summer 2024.final.JPG' }], {
    format: 'webp',
  });
  const run = await client.finished(id);
  expect(run.outputs?.map(({ filename, media_type }) => [filename, media_type])).toEqual([
    ['Summer 2024.final.webp', 'image/webp'],
  ]);
});

test('broken settings are 422 with a sentence for each, all at once', async () => {
  const error = await errorOf(
    await client.submit('image-compressor', [photo], {
      quality: '101',
      mode: 'magic',
      max_width: 'wide',
      strip_metadata: 'perhaps',
    }),
    422,
  );
  expect(error.code).toBe('validation_failed');
  expect(error.errors).toEqual({
    quality: ['must be between 1 and 100'],
    mode: ['must be one of quality, target_size, lossless'],
    max_width: ['must be a whole number, not "wide"'],
    strip_metadata: ['must be true or false'],
  });
});

test('numbers are read strictly: no fraction, no exponent, no blank around them', async () => {
  for (const quality of ['80.5', '8e1', ' 80', '0x50', '٨٠', '-0x1', 'NaN']) {
    const error = await errorOf(await client.submit('image-compressor', [photo], { quality }), 422);
    expect(Object.keys(error.errors ?? {}), quality).toEqual(['quality']);
  }
});

test('an unknown setting is 422 and names the nearest known one', async () => {
  const error = await errorOf(await client.submit('image-compressor', [photo], { qualty: '80' }), 422);
  expect(error.errors?.['qualty']?.[0]).toContain('did you mean "quality"?');
});

test('names that every object has are no settings either', async () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const body = multipart([{ disposition: `name="${name}"`, content: '1' }]);
    const response = await client.request(`/tools/${quick.tool}`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': multipartType },
    });
    await errorOf(response, 400);
  }
});

test('a setting that is sent twice is 422', async () => {
  const form = new FormData();
  form.append('files[]', new Blob([new Uint8Array(photo.content)]), 'photo.jpg');
  form.append('quality', '10');
  form.append('quality', '90');
  const error = await errorOf(await client.request('/tools/image-compressor', { method: 'POST', body: form }), 422);
  expect(error.errors).toEqual({ quality: ['was sent more than once'] });
});

test('a rule across settings is 422 on the field to mend', async () => {
  const error = await errorOf(await client.submit('image-compressor', [photo], { mode: 'target_size' }), 422);
  expect(error.errors).toEqual({ target_size_kb: ['is required when mode is target_size'] });
});

test('too many or too few files are 422 on "files"', async () => {
  const none = await errorOf(await client.submit('image-compressor', []), 400);
  expect(none.code).toBe('file_missing');
  const one = await errorOf(await client.submit('pdf-merger', [pdfFixture('three-pages.pdf')]), 422);
  expect(Object.keys(one.errors ?? {})).toEqual(['files']);
  const many = await errorOf(
    await client.submit(
      'image-compressor',
      Array.from({ length: 51 }, () => photo),
    ),
    422,
  );
  expect(many.errors).toEqual({ files: ['Image Compressor takes at most 50 files'] });
});

test('wrong files and wrong settings are told together', async () => {
  const error = await errorOf(
    await client.submit('image-compressor', [{ filename: 'a.jpg', content: 'no picture' }], { quality: '0' }),
    422,
  );
  expect(Object.keys(error.errors ?? {}).toSorted()).toEqual(['files.0', 'quality']);
});

test('a file that looks right and is broken fails the run, in words for its owner', async () => {
  const { id } = await client.accepted('pdf-text-extractor', [pdfFixture('zero-pages.pdf')]);
  const run = await client.finished(id);
  expect(run.status).toBe('failed');
  expect(run).not.toHaveProperty('outputs');
  expect(run.error).toMatchObject({ code: 'invalid_input', file: 'zero-pages.pdf' });
  expect(run.error?.message).toMatch(/^[^/]+\.$/);
  expect(run.actions).toEqual({ cancel: false, delete: true });
});

test('a locked file needs its password, which the run never shows', async () => {
  const locked = pdfFixture('locked.pdf');
  const without = await client.accepted('pdf-text-extractor', [locked]);
  expect((await client.finished(without.id)).error).toMatchObject({ code: 'password_required', file: 'locked.pdf' });

  const { id } = await client.accepted('pdf-text-extractor', [locked], { password: 'secret' });
  const run = await client.finished(id);
  expect(run.status).toBe('done');
  expect(JSON.stringify(run)).not.toContain('secret');
  expect(run.settings).not.toHaveProperty('password');
  expect(scenario.server.log()).not.toContain('secret');
});

test('one bad file of several fails the whole run, and no output is left over', async () => {
  const picture = { filename: 'good.png', content: await quarters().png().toBuffer() };
  const cut = { filename: 'bad.png', content: picture.content.subarray(0, 60) };
  const { id } = await client.accepted('image-compressor', [picture, cut]);
  const run = await client.finished(id);
  expect(run).toMatchObject({ status: 'failed', error: { code: 'invalid_input', file: 'bad.png' } });
  expect((await client.request(`/runs/${id}/outputs/0`)).status).toBe(404);
});
