import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import sharp from 'sharp';
import type { RunPage, Submission } from '@millrun/sdk';
import type { Client, FormFile } from '../client.ts';
import { createClient } from '../client.ts';
import { quarters } from '../image-fixtures.ts';
import { boundary, multipart, multipartType, openRaw, requestHead, type RawPart } from '../raw-http.ts';
import { errorOf, eventually, getRun, makeToken, storedFiles, useServer } from '../scenario.ts';

const kilobyte = 1000;
const limits = { max_file_bytes: 100 * kilobyte, max_files: 3, max_run_bytes: 250 * kilobyte };
const scenario = useServer({ env: { MILLRUN_PLANS: JSON.stringify({ small: limits }) } });

let token: string;
/** Of a plan whose limits a test can reach. */
let small: Client;
let client: Client;
let picture: Buffer;
beforeAll(async () => {
  token = await makeToken(scenario.server, 'small');
  small = createClient(scenario.server.base, token);
  client = await scenario.client();
  picture = await quarters(24, 16).png().toBuffer();
});

/** A list of QR codes of so many bytes: a text that is accepted whatever its length. */
const textOf = (length: number): FormFile => ({ filename: 'list.txt', content: 'x'.repeat(length) });

function sendForm(of: Client, tool: string, body: Buffer<ArrayBuffer>, headers = {}): Promise<Response> {
  return of.request(`/tools/${tool}`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': multipartType, ...headers },
  });
}

const file = (filename: string, content: string | Uint8Array): RawPart => ({
  disposition: `name="files[]"; filename="${filename}"`,
  content,
});
const field = (name: string, content: string): RawPart => ({ disposition: `name="${name}"`, content });

describe('what is refused', () => {
  let before: string[];
  beforeEach(async () => {
    before = await storedFiles(scenario.server);
  });
  /** A refused upload leaves nothing, from the moment of the reply. */
  async function expectNothingLeft(): Promise<void> {
    expect(await storedFiles(scenario.server)).toEqual(before);
  }

  test('a file of one byte too many is 413 and names the limit; one at the limit is taken', async () => {
    const error = await errorOf(await small.submit('qr-code-generator', [textOf(limits.max_file_bytes + 1)]), 413);
    expect(error).toMatchObject({ code: 'payload_too_large', message: expect.stringContaining('100000') });
    await expectNothingLeft();
    expect((await small.submit('qr-code-generator', [textOf(limits.max_file_bytes)])).status).toBe(202);
  });

  test('files that are too much together are 413, and so are too many', async () => {
    const third = textOf(90 * kilobyte);
    const together = await errorOf(await small.submit('image-compressor', [third, third, third]), 413);
    expect(together.message).toContain('250000');
    const many = Array.from({ length: 4 }, () => ({ filename: 'a.png', content: picture }));
    expect((await errorOf(await small.submit('image-compressor', many), 413)).message).toContain('3 files');
    await expectNothingLeft();
  });

  test('an upload that is far too large is 413 before it has been sent, and the client hears it', async () => {
    // Announced, and not announced.
    const huge = Buffer.alloc(30_000_000);
    const form = multipart([file('a.png', huge)]);
    expect((await errorOf(await sendForm(small, 'image-compressor', form), 413)).code).toBe('payload_too_large');
    const chunked = await small.request('/tools/image-compressor', {
      method: 'POST',
      body: new Blob([form]).stream(),
      headers: { 'Content-Type': multipartType },
      duplex: 'half',
    } as RequestInit);
    expect((await errorOf(chunked, 413)).code).toBe('payload_too_large');
    await expectNothingLeft();
  });

  test('more than 64 fields, or a field of more than 64 kB, are 413', async () => {
    const many = multipart(Array.from({ length: 65 }, (_, index) => field(`field-${index}`, 'x')));
    expect((await errorOf(await sendForm(small, 'qr-code-generator', many), 413)).message).toContain('64 fields');
    const long = multipart([file('a.txt', 'one'), field('text', 'x'.repeat(65_537))]);
    expect((await errorOf(await sendForm(small, 'qr-code-generator', long), 413)).message).toContain('65536');
    await expectNothingLeft();
  });

  test('a body that is no form is 400', async () => {
    for (const [type, body] of [
      ['application/json', '{"text":"x"}'],
      ['application/x-www-form-urlencoded', 'text=x'],
      ['application/octet-stream', picture],
      ['image/png', picture],
      ['text/plain', 'x'],
      ['multipart/mixed; boundary=x', 'x'],
    ] as const) {
      const response = await small.request('/tools/qr-code-generator', {
        method: 'POST',
        body,
        headers: { 'Content-Type': type },
      });
      expect((await errorOf(response, 400)).code, type).toBe('not_multipart');
    }
    const bare = await small.request('/tools/qr-code-generator', { method: 'POST' });
    expect((await errorOf(bare, 400)).code).toBe('not_multipart');
    await expectNothingLeft();
  });

  test('a form that is broken is 400, wherever it breaks', async () => {
    const whole = multipart([file('a.png', picture), field('quality', '80')]);
    const cut = (at: number) => whole.subarray(0, at) as Buffer<ArrayBuffer>;
    const broken: [what: string, body: Buffer<ArrayBuffer>, type?: string][] = [
      ['no boundary is named', whole, 'multipart/form-data'],
      ['an empty boundary', whole, 'multipart/form-data; boundary='],
      ['another boundary', whole, 'multipart/form-data; boundary=another'],
      ['a boundary of 71 characters', whole, `multipart/form-data; boundary=${'b'.repeat(71)}`],
      ['nothing', Buffer.alloc(0)],
      ['garbage', Buffer.from('there is no form in here')],
      ['cut in the headers of the file', cut(60)],
      ['cut in the file', cut(200)],
      ['cut before the last boundary', multipart([file('a.png', picture)], { ended: false })],
      ['a part without headers', Buffer.from(`--${boundary}\r\n\r\nx\r\n--${boundary}--\r\n`)],
      ['a part without a name', multipart([{ disposition: 'filename="a.png"', content: picture }])],
      ['no parts', Buffer.from(`--${boundary}--\r\n`)],
    ];
    for (const [what, body, type] of broken) {
      const response = await sendForm(
        small,
        'image-compressor',
        body,
        type === undefined ? {} : { 'Content-Type': type },
      );
      expect(response.status, what).toBe(400);
      expect((await errorOf(response, 400)).code, what).toMatch(/^(malformed_multipart|not_multipart|file_missing)$/);
    }
    await expectNothingLeft();
  });

  test('a file in another field than files[] is 400', async () => {
    const body = multipart([{ disposition: 'name="photo"; filename="a.png"', content: picture }]);
    const error = await errorOf(await sendForm(small, 'image-compressor', body), 400);
    expect(error).toMatchObject({ code: 'unknown_file_field', message: expect.stringContaining('files[]') });
    await expectNothingLeft();
  });

  test('an empty file is 422 on that file', async () => {
    const files = [
      { filename: 'a.png', content: picture },
      { filename: 'b.png', content: '' },
    ];
    const error = await errorOf(await small.submit('image-compressor', files), 422);
    expect(error.errors).toEqual({ 'files.1': ['is empty'] });
    await expectNothingLeft();
  });

  test('a file of a wrong type is 422 on that file, whatever it is called and said to be', async () => {
    const disguised = { filename: 'document.pdf', content: picture };
    const real = { filename: 'a.png', content: picture };
    const error = await errorOf(await small.submit('pdf-to-image-converter', [disguised, real]), 422);
    expect(error.errors).toEqual({
      'files.0': [expect.stringMatching(/^is a PNG image; PDF to Image Converter takes PDF document$/)],
      'files.1': [expect.stringMatching(/^is a PNG image/)],
    });
    const one = await errorOf(
      await small.submit('image-compressor', [real, { filename: 'x.png', content: '%PDF-1.7\n' }]),
      422,
    );
    expect(Object.keys(one.errors ?? {})).toEqual(['files.1']);
    const noise = {
      filename: 'noise.png',
      content: Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7919) % 251)),
    };
    const strange = await errorOf(await small.submit('image-compressor', [noise]), 422);
    expect(strange.errors?.['files.0']?.[0]).toContain('not recognised');
    await expectNothingLeft();
  });

  test('an upload that its client abandons leaves nothing', async () => {
    const head = requestHead('POST /api/v2/tools/image-compressor', {
      Authorization: `Bearer ${token}`,
      'Content-Type': multipartType,
      'Content-Length': '90000',
    });
    const body = multipart([file('a.png', Buffer.alloc(50_000, 1))], { ended: false });
    const connection = await openRaw(scenario.server.origin, Buffer.concat([Buffer.from(head), body]));
    const begun = await eventually('the upload has begun to be stored', async () => {
      const now = (await storedFiles(scenario.server)).filter((name) => !before.includes(name));
      return now.length > 0 && now;
    });
    expect(begun).toHaveLength(1);
    connection.socket.resetAndDestroy();
    await eventually(
      'nothing is left of it',
      async () => (await storedFiles(scenario.server)).length === before.length,
    );
    await expectNothingLeft();
    const { data } = (await (await small.request('/runs?tool=image-compressor')).json()) as RunPage;
    expect(data).toEqual([]);
  });
});

describe('what is taken', () => {
  test('is judged by its content: neither its name nor its announced type counts', async () => {
    const part = 'name="files[]"; filename="holiday.txt"\r\nContent-Type: application/pdf';
    const body = multipart([{ disposition: part, content: picture }]);
    const response = await sendForm(client, 'image-compressor', body);
    expect(response.status).toBe(202);
    const run = await client.finished(((await response.json()) as Submission).id);
    expect(run.outputs?.map(({ filename, media_type }) => [filename, media_type])).toEqual([
      ['holiday.png', 'image/png'],
    ]);
  });

  test('is what its extension says among kinds of text: for the check of its settings, the tool and the result', async () => {
    const files = [
      { filename: 'table.css', content: 'a, b {\n  color: red;\n}\nc, d {\n  margin: 0;\n}\n' },
      { filename: 'sum.js', content: 'export const sum = [1, 2];\nexport const one = [1, 1];\n' },
    ];
    const { id } = await client.accepted('code-minifier', files, { source_map: 'true' });
    const outputs = (await client.finished(id)).outputs?.map(({ filename, media_type }) => [filename, media_type]);
    expect(outputs).toEqual([
      ['table.min.css', 'text/css'],
      ['table.min.css.map', 'application/json'],
      ['sum.min.js', 'text/javascript'],
      ['sum.min.js.map', 'application/json'],
    ]);
  });

  test('keeps the order of the files and every duplicate', async () => {
    const sizes = [12, 30, 12, 20, 30];
    const names = ['b.png', 'a.png', 'b.png', 'c.png', 'a.png'];
    const files = await Promise.all(
      sizes.map(async (size, index) => ({
        filename: names[index] ?? '',
        content: await quarters(size, 8).png().toBuffer(),
      })),
    );
    const { id } = await client.accepted('image-converter', files, { format: 'webp' });
    const run = await client.finished(id);
    expect(run.inputs).toEqual(files.map(({ filename, content }) => ({ filename, size_bytes: content.length })));
    expect(run.outputs?.map(({ filename }) => filename)).toEqual([
      'b.webp',
      'a.webp',
      'b-1.webp',
      'c.webp',
      'a-1.webp',
    ]);
    const widths = await Promise.all(
      (run.outputs ?? []).map(
        async ({ url }) => (await sharp(await (await fetch(url)).arrayBuffer()).metadata()).width,
      ),
    );
    expect(widths).toEqual(sizes);
  });

  test('may come with its settings before, between or after the files', async () => {
    for (const parts of [
      [field('format', 'webp'), file('a.png', picture)],
      [file('a.png', picture), field('format', 'webp'), file('b.png', picture)],
      [file('a.png', picture), field('format', 'webp')],
    ]) {
      const response = await sendForm(client, 'image-converter', multipart(parts));
      expect(response.status).toBe(202);
      const run = await client.finished(((await response.json()) as Submission).id);
      expect(run.outputs?.every(({ media_type }) => media_type === 'image/webp')).toBe(true);
    }
  });

  test('may come in pieces of any size, and without its length', async () => {
    const body = multipart([file('a.png', picture), field('format', 'webp')]);
    const { socket, received, ended } = await openRaw(
      scenario.server.origin,
      requestHead('POST /api/v2/tools/image-converter', {
        Authorization: `Bearer ${token}`,
        'Content-Type': multipartType,
        'Transfer-Encoding': 'chunked',
        Connection: 'close',
      }),
    );
    for (const byte of body)
      socket.write(Buffer.concat([Buffer.from('1\r\n'), Buffer.from([byte]), Buffer.from('\r\n')]));
    socket.write('0\r\n\r\n');
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 202 /);
    const { id } = JSON.parse(
      received()
        .split('\r\n\r\n')[1]
        ?.match(/\{.*\}/)?.[0] ?? '',
    ) as Submission;
    const run = await small.finished(id);
    expect(run).toMatchObject({ status: 'done', inputs: [{ filename: 'a.png', size_bytes: picture.length }] });
  });
});

describe('an Idempotency-Key', () => {
  const form = (content: Uint8Array, quality = '50') => multipart([file('a.png', content), field('quality', quality)]);
  const submit = (of: Client, key: string, body = form(picture), tool = 'image-compressor') =>
    sendForm(of, tool, body, { 'Idempotency-Key': key });
  const runsOf = async (of: Client) => ((await (await of.request('/runs?limit=100')).json()) as RunPage).data;

  test('makes a repeated request the same run: the same reply, and nothing stored twice', async () => {
    const of = await scenario.client();
    const first = await submit(of, 'my-key-1');
    expect(first.status).toBe(202);
    expect(first.headers.has('idempotency-replayed')).toBe(false);
    const made = (await first.json()) as Submission;
    const { id, status_url } = made;
    await of.finished(id);
    const before = await storedFiles(scenario.server);
    for (let again = 0; again < 3; again++) {
      const replay = await submit(of, 'my-key-1');
      expect(replay.status).toBe(202);
      expect(replay.headers.get('idempotency-replayed')).toBe('true');
      expect(replay.headers.get('location')).toBe(status_url);
      expect(await replay.json()).toEqual(made);
    }
    expect(await storedFiles(scenario.server)).toEqual(before);
    expect((await runsOf(of)).map((run) => run.id)).toEqual([id]);
  });

  test('with another request is 422 idempotency_key_reused', async () => {
    const of = await scenario.client();
    await submit(of, 'my-key-2');
    const changed = Buffer.from(picture);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    const before = await storedFiles(scenario.server);
    for (const [what, response] of [
      ['another file', await submit(of, 'my-key-2', form(changed))],
      ['another setting', await submit(of, 'my-key-2', form(picture, '51'))],
      ['another name', await submit(of, 'my-key-2', multipart([file('b.png', picture), field('quality', '50')]))],
      [
        'one more file',
        await submit(
          of,
          'my-key-2',
          multipart([file('a.png', picture), file('a.png', picture), field('quality', '50')]),
        ),
      ],
      [
        'another tool',
        await submit(of, 'my-key-2', multipart([file('a.png', picture), field('quality', '50')]), 'image-converter'),
      ],
    ] as const) {
      const error = await errorOf(response, 422);
      expect(error.code, what).toBe('idempotency_key_reused');
      expect(error.errors, what).toEqual({ 'Idempotency-Key': [expect.any(String)] });
    }
    expect(
      (await storedFiles(scenario.server)).filter((name) => !before.includes(name) && name.includes('in')),
    ).toEqual([]);
    expect(await runsOf(of)).toHaveLength(1);
  });

  test('of a request that is still being received is 409 idempotency_key_in_use', async () => {
    const body = multipart([file('a.png', picture), field('quality', '50')]);
    const head = requestHead('POST /api/v2/tools/image-compressor', {
      Authorization: `Bearer ${token}`,
      'Content-Type': multipartType,
      'Content-Length': String(body.length),
      'Idempotency-Key': 'my-key-3',
      Connection: 'close',
    });
    const before = await storedFiles(scenario.server);
    const { socket, received, ended } = await openRaw(
      scenario.server.origin,
      Buffer.concat([Buffer.from(head), body.subarray(0, 250)]),
    );
    await eventually(
      'the upload has begun to be stored',
      async () => (await storedFiles(scenario.server)).length > before.length,
    );
    const early = await submit(small, 'my-key-3', body);
    expect((await errorOf(early, 409)).code).toBe('idempotency_key_in_use');
    socket.write(body.subarray(250));
    await ended;
    expect(received()).toMatch(/^HTTP\/1\.1 202 /);
    const late = await submit(small, 'my-key-3', body);
    expect(late.status).toBe(202);
    expect(late.headers.get('idempotency-replayed')).toBe('true');
    expect(received()).toContain(((await late.json()) as Submission).id);
  });

  test('is free again when its request came to nothing: refused, or abandoned', async () => {
    const of = await scenario.client();
    await errorOf(await submit(of, 'my-key-4', form(picture, '0')), 422);
    const fixed = await submit(of, 'my-key-4');
    expect(fixed.status).toBe(202);
    expect(fixed.headers.has('idempotency-replayed')).toBe(false);
    await of.finished(((await fixed.json()) as Submission).id);

    const before = await storedFiles(scenario.server);
    const head = requestHead('POST /api/v2/tools/image-compressor', {
      Authorization: `Bearer ${token}`,
      'Content-Type': multipartType,
      'Content-Length': '5000',
      'Idempotency-Key': 'my-key-5',
    });
    const connection = await openRaw(
      scenario.server.origin,
      Buffer.concat([Buffer.from(head), form(picture).subarray(0, 200)]),
    );
    await eventually(
      'the upload has begun to be stored',
      async () => (await storedFiles(scenario.server)).length > before.length,
    );
    await errorOf(await submit(small, 'my-key-5'), 409);
    connection.socket.resetAndDestroy();
    await eventually('the key is free', async () => (await submit(small, 'my-key-5')).status === 202);
  });

  test('lets one of many requests at the same time make the run', async () => {
    const of = await scenario.client();
    const replies = await Promise.all(Array.from({ length: 12 }, () => submit(of, 'my-key-6')));
    const fresh = replies.filter(({ status, headers }) => status === 202 && !headers.has('idempotency-replayed'));
    expect(fresh).toHaveLength(1);
    for (const { status } of replies) expect([202, 409]).toContain(status);
    expect(await runsOf(of)).toHaveLength(1);
  });

  test('is of one account alone', async () => {
    const [one, other] = [await scenario.client(), await scenario.client()];
    const ids = await Promise.all(
      [one, other].map(async (of) => ((await (await submit(of, 'my-key-7')).json()) as Submission).id),
    );
    expect(new Set(ids).size).toBe(2);
    expect((await getRun(other, ids[1] ?? '')).id).toBe(ids[1]);
  });

  test('answers as before when its run has been deleted', async () => {
    const of = await scenario.client();
    const { id } = (await (await submit(of, 'my-key-8')).json()) as Submission;
    await of.finished(id);
    await of.request(`/runs/${id}`, { method: 'DELETE' });
    const replay = await submit(of, 'my-key-8');
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect(((await replay.json()) as Submission).id).toBe(id);
  });

  test('has 1 to 255 characters', async () => {
    const of = await scenario.client();
    expect((await submit(of, 'k'.repeat(255))).status).toBe(202);
    expect((await submit(of, 'k')).status).toBe(202);
    for (const key of ['', 'k'.repeat(256)]) {
      expect((await errorOf(await submit(of, key), 400)).code).toBe('invalid_idempotency_key');
    }
  });
});
