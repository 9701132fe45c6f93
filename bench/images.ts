/**
 * Images through the API against sharp in the driver's own process, same settings. Marks (docs/benchmarks.md): 12 MP JPEG
 * at concurrency 4 at least 0.9 of the floor; 64 kB PNG p50 under 60 ms idle and at least 0.8 of the floor at 16.
 */
import sharp from 'sharp';
import { startServer } from '../server/test/server.ts';
import { makeForm, processOnce } from './client.ts';
import { makePhoto, makeScreenshot } from './inputs.ts';
import { closedLoop, interleave, type Comparison } from './measure.ts';

await using server = await startServer({ env: { MILLRUN_LOG_LEVEL: 'warn' } });
const token = await server.token();

const photo = await makePhoto();
const photoForm = makeForm([{ filename: 'photo.jpg', content: photo }], { quality: '80' });
const photoFloor = () => sharp(photo).jpeg({ quality: 80 }).toBuffer();
const photoOurs = () => processOnce(server.base, token, 'image-compressor', photoForm);

const screenshot = await makeScreenshot();
const screenshotForm = makeForm([{ filename: 'screenshot.png', content: screenshot }], { quality: '80' });
const screenshotFloor = () => sharp(screenshot).png({ palette: true, quality: 80 }).toBuffer();
const screenshotOurs = () => processOnce(server.base, token, 'image-compressor', screenshotForm);

function print(name: string, { floor, ours, ratio }: Comparison): void {
  const figures = (m: typeof floor) =>
    `${m.jobsPerSecond.toFixed(1)}/s, p50 ${m.p50Ms.toFixed(0)} ms, p95 ${m.p95Ms.toFixed(0)} ms`;
  console.log(`${name}: ratio ${ratio.toFixed(2)}   floor ${figures(floor)}   ours ${figures(ours)}`);
}

console.log(`photo ${photo.length} bytes, screenshot ${screenshot.length} bytes`);
const only = process.argv[2];
if (only === undefined || only === 'photo')
  print('12 MP JPEG, concurrency 4', await interleave(3, 4, 32, photoFloor, photoOurs));
if (only === undefined || only === 'png') {
  await closedLoop(1, 10, screenshotOurs);
  const floor = await closedLoop(1, 40, screenshotFloor);
  const idle = await closedLoop(1, 40, screenshotOurs);
  console.log(
    `64 kB PNG, idle: p50 ${idle.p50Ms.toFixed(1)} ms, p95 ${idle.p95Ms.toFixed(1)} ms; floor p50 ${floor.p50Ms.toFixed(1)} ms`,
  );
  print('64 kB PNG, concurrency 16', await interleave(3, 16, 96, screenshotFloor, screenshotOurs));
}
