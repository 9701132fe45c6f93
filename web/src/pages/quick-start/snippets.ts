import type { Language } from '../tool/code-samples.ts';

/** The steps that are shown as code, in their order. Each goes on where the one before ends. */
export type Step = 'send' | 'wait' | 'follow' | 'download' | 'retry' | 'register' | 'verify';

/**
 * The code of the quick start for a service at this base URL, `https://files.example.com/api/v2`. It is run as it stands by
 * `server/test/scenarios/quick-start.test.ts`.
 */
export function writeSnippets(base: string): Record<Step, Record<Language, string>> {
  return {
    send: {
      curl: `curl ${base}/tools/image-compressor \\
  -H "Authorization: Bearer $MILLRUN_TOKEN" \\
  -F 'files[]=@photo.jpg' \\
  -F quality=75

# The reply is the accepted run. Keep its id:
RUN=run_…`,
      typescript: `// Node.js 24
import { openAsBlob } from 'node:fs';

const api = '${base}';
const headers = { Authorization: \`Bearer \${process.env.MILLRUN_TOKEN}\` };

const form = new FormData();
form.append('files[]', await openAsBlob('photo.jpg'), 'photo.jpg');
form.append('quality', '75');

const reply = await fetch(\`\${api}/tools/image-compressor\`, {
  method: 'POST',
  headers,
  body: form,
});
if (!reply.ok) throw new Error(await reply.text());
let run = await reply.json();`,
      python: `# pip install requests
import os
import requests

api = "${base}"
session = requests.Session()
session.headers["Authorization"] = f"Bearer {os.environ['MILLRUN_TOKEN']}"

with open("photo.jpg", "rb") as photo:
    reply = session.post(
        f"{api}/tools/image-compressor",
        files={"files[]": photo},
        data={"quality": 75},
    )
reply.raise_for_status()
run = reply.json()`,
    },
    wait: {
      curl: `curl "${base}/runs/$RUN?wait=60" \\
  -H "Authorization: Bearer $MILLRUN_TOKEN"`,
      typescript: `do {
  const reply = await fetch(\`\${api}/runs/\${run.id}?wait=60\`, { headers });
  run = await reply.json();
} while (run.status === 'queued' || run.status === 'processing');

if (run.status === 'failed') throw new Error(run.error.message);`,
      python: `while run["status"] in ("queued", "processing"):
    run = session.get(f"{api}/runs/{run['id']}", params={"wait": 60}).json()

if run["status"] == "failed":
    raise RuntimeError(run["error"]["message"])`,
    },
    follow: {
      curl: `curl -N ${base}/runs/$RUN/stream \\
  -H "Authorization: Bearer $MILLRUN_TOKEN"`,
      typescript: `const stream = await fetch(\`\${api}/runs/\${run.id}/stream\`, { headers });
let text = '';
for await (const piece of stream.body.pipeThrough(new TextDecoderStream())) {
  const lines = (text + piece).split('\\n');
  text = lines.pop();
  for (const line of lines) {
    if (line.startsWith('data: ')) console.log(JSON.parse(line.slice(6)));
  }
}`,
      python: `import json

with session.get(f"{api}/runs/{run['id']}/stream", stream=True) as stream:
    for line in stream.iter_lines():
        if line.startswith(b"data: "):
            print(json.loads(line[6:]))`,
    },
    download: {
      curl: `# All outputs as one ZIP:
curl -o outputs.zip ${base}/runs/$RUN/archive \\
  -H "Authorization: Bearer $MILLRUN_TOKEN"

# Or one by one. Their addresses need no token:
curl -s ${base}/runs/$RUN \\
  -H "Authorization: Bearer $MILLRUN_TOKEN" |
  grep -o '"url":"[^"]*"' | cut -d '"' -f 4 |
  xargs -n 1 curl -OJ --create-dirs --output-dir outputs`,
      typescript: `import { mkdir, writeFile } from 'node:fs/promises';

await mkdir('outputs', { recursive: true });
for (const { filename, url } of run.outputs) {
  const download = await fetch(url); // This address needs no token.
  await writeFile(\`outputs/\${filename}\`, download.body);
}`,
      python: `import pathlib

folder = pathlib.Path("outputs")
folder.mkdir(exist_ok=True)
for output in run["outputs"]:
    download = requests.get(output["url"])  # This address needs no token.
    (folder / output["filename"]).write_bytes(download.content)`,
    },
    retry: {
      curl: `curl ${base}/tools/image-compressor \\
  --retry 5 \\
  -H "Idempotency-Key: invoice-2026-0042" \\
  -H "Authorization: Bearer $MILLRUN_TOKEN" \\
  -F 'files[]=@photo.jpg'`,
      typescript: `async function send(form, key) {
  for (let tries = 1; ; tries++) {
    const reply = await fetch(\`\${api}/tools/image-compressor\`, {
      method: 'POST',
      headers: { ...headers, 'Idempotency-Key': key },
      body: form,
    });
    if (![429, 503].includes(reply.status) || tries === 5) return reply;
    const seconds = Number(reply.headers.get('Retry-After') ?? 1);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  }
}

await send(form, 'invoice-2026-0042');`,
      python: `from requests.adapters import HTTPAdapter
from urllib3.util import Retry

# Waits as long as Retry-After says.
again = Retry(total=5, status_forcelist=[429, 503], allowed_methods=None)
session.mount(api, HTTPAdapter(max_retries=again))

with open("photo.jpg", "rb") as photo:
    session.post(
        f"{api}/tools/image-compressor",
        headers={"Idempotency-Key": "invoice-2026-0042"},
        files={"files[]": photo},
    )`,
    },
    register: {
      curl: `curl ${base}/webhooks \\
  -H "Authorization: Bearer $MILLRUN_TOKEN" \\
  --json '{
    "url": "https://example.com/millrun",
    "events": ["run.completed", "run.failed"]
  }'`,
      typescript: `const registered = await fetch(\`\${api}/webhooks\`, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify({
    url: 'https://example.com/millrun',
    events: ['run.completed', 'run.failed'],
  }),
});
const { secret } = await registered.json(); // Shown this once.`,
      python: `webhook = session.post(
    f"{api}/webhooks",
    json={
        "url": "https://example.com/millrun",
        "events": ["run.completed", "run.failed"],
    },
).json()
secret = webhook["secret"]  # Shown this once.`,
    },
    verify: {
      curl: `# ID, TIME and SIGNATURES are the headers webhook-id, webhook-timestamp
# and webhook-signature; body.json is the body, byte for byte.
KEY=$(printf %s "\${MILLRUN_WEBHOOK_SECRET#whsec_}" |
  base64 -d | od -An -v -tx1 | tr -d ' \\n')
EXPECTED=v1,$({ printf %s. "$ID" "$TIME"; cat body.json; } |
  openssl dgst -sha256 -mac HMAC -macopt hexkey:$KEY -binary | base64)

case " $SIGNATURES " in
  *" $EXPECTED "*) echo 'It is from Millrun.' ;;
  *) echo 'It is not from Millrun.' ;;
esac`,
      typescript: `// npm install standardwebhooks
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.MILLRUN_WEBHOOK_SECRET);

createServer(async (request, response) => {
  try {
    const event = webhook.verify(await text(request), request.headers);
    console.log(event.type, event.data.id, event.data.status);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end(); // Not from Millrun.
  }
}).listen(3000);`,
      python: `# pip install standardwebhooks
import os
from http.server import BaseHTTPRequestHandler, HTTPServer
from standardwebhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["MILLRUN_WEBHOOK_SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = webhook.verify(body, dict(self.headers))
            print(event["type"], event["data"]["id"], event["data"]["status"])
            self.send_response(204)
        except WebhookVerificationError:
            self.send_response(400)  # Not from Millrun.
        self.end_headers()


HTTPServer(("", 3000), Receiver).serve_forever()`,
    },
  };
}
