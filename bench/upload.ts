/** One upload of 2 GB with the limits raised. Mark: the API's memory stays under 200 MB. */
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../server/test/server.ts';

const size = 2_000_000_000;
const boundary = 'millrun-bench-4f1c';

await using server = await startServer({ role: 'serve', env: { MILLRUN_LOG_LEVEL: 'warn', MILLRUN_SLOTS: '1' } });
const token = await server.token();
const rssMb = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const head = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="files[]"; filename="big.bin"\r\n\r\n`);
const tail = Buffer.from(
  `\r\n--${boundary}\r\nContent-Disposition: form-data; name="level"\r\n\r\n0\r\n--${boundary}--\r\n`,
);
const before = rssMb();
let peak = before;
const watch = setInterval(() => (peak = Math.max(peak, rssMb())), 20);
const startedAt = performance.now();
const status = await new Promise<number>((resolve, reject) => {
  const upload = request(`${server.base}/tools/archive-creator`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': `multipart/form-data; boundary=${boundary}`,
      'Content-Length': head.length + size + tail.length,
    },
  });
  upload.on('response', (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  upload.on('error', reject);
  const block = Buffer.alloc(1_000_000, 'mill');
  const send = async () => {
    upload.write(head);
    for (let sent = 0; sent < size; sent += block.length) {
      if (!upload.write(block)) await new Promise((drained) => upload.once('drain', drained));
    }
    upload.end(tail);
  };
  send().catch(reject);
});
const seconds = (performance.now() - startedAt) / 1000;
await sleep(200);
clearInterval(watch);
console.log(
  `2 GB upload: ${status}, ${(size / 1e6 / seconds).toFixed(0)} MB/s, API memory ${before.toFixed(0)} MB before, peak ${peak.toFixed(0)} MB`,
);
