import { Agent, request as httpRequest } from 'node:http';

/** A minimal HTTP client: the driver shares the processors with the server, so it must cost next to nothing. */
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export interface Reply {
  status: number;
  body: Buffer;
}

export function send(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { agent, method: options.method ?? 'GET', headers: options.headers ?? {} },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(options.body);
  });
}

/** A multipart form made once and sent many times. */
export interface Form {
  headers: Record<string, string>;
  body: Buffer;
}

export function makeForm(
  files: readonly { filename: string; content: Buffer }[],
  fields: Record<string, string> = {},
): Form {
  const boundary = 'millrun-bench-4f1c';
  const parts: Buffer[] = [];
  for (const { filename, content } of files) {
    parts.push(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="files[]"; filename="${filename}"\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    );
  }
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`));
  }
  const body = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
  return {
    body,
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}`, 'Content-Length': String(body.length) },
  };
}

/** Submits, waits, downloads every output: from the first byte sent to the last one received. */
export async function processOnce(base: string, token: string, tool: string, form: Form): Promise<Buffer[]> {
  const authorization = { Authorization: `Bearer ${token}` };
  const accepted = await send(`${base}/tools/${tool}`, {
    method: 'POST',
    headers: { ...form.headers, ...authorization },
    body: form.body,
  });
  if (accepted.status !== 202) throw new Error(`${accepted.status} ${accepted.body.toString()}`);
  const { status_url: statusUrl } = JSON.parse(accepted.body.toString()) as { status_url: string };
  const ended = await send(`${statusUrl}?wait=60`, { headers: authorization });
  const run = JSON.parse(ended.body.toString()) as { status: string; outputs?: { url: string; size_bytes: number }[] };
  if (run.status !== 'done' || run.outputs === undefined) throw new Error(ended.body.toString());
  const outputs: Buffer[] = [];
  for (const { url, size_bytes: size } of run.outputs) {
    const { body } = await send(url);
    if (body.length !== size) throw new Error(`${body.length} of ${size} bytes came`);
    outputs.push(body);
  }
  return outputs;
}
