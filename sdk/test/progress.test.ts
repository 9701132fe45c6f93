import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createProgress } from '../src/commands/progress.ts';

function screenOf(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  return { isTTY, columns, written, write: (text: string) => written.push(text) };
}

describe('progress', () => {
  test('in a file or pipe is a line for each step', () => {
    const screen = screenOf(false);
    const progress = createProgress(screen);
    for (const sentBytes of [1e6, 2e6, 4e6]) progress.upload({ sentBytes, totalBytes: 4e6 });
    progress.run({ status: 'queued', queue_position: 2 });
    progress.run({ status: 'queued', queue_position: 1 });
    for (const percent of [0, 10, 20]) progress.run({ status: 'processing', progress: percent });
    progress.run({ status: 'done' });
    progress.download('small.txt', { receivedBytes: 10, totalBytes: 10 });
    progress.download('large.bin', { receivedBytes: 1e6, totalBytes: 4e6 });
    progress.clear();
    expect(screen.written).toEqual([
      'Uploading 4.0 MB\n',
      'Queued, position 2\n',
      'Queued, position 1\n',
      'Processing\n',
      'Downloading large.bin\n',
    ]);
  });

  test('on a terminal is one line that is drawn again, no wider than it, and cleared in the end', async () => {
    const screen = screenOf(true, 20);
    const progress = createProgress(screen);
    progress.upload({ sentBytes: 1e6, totalBytes: 4e6 });
    progress.upload({ sentBytes: 2e6, totalBytes: 4e6 }); // Sooner than a person sees.
    await sleep(100);
    progress.upload({ sentBytes: 4e6, totalBytes: 4e6 });
    progress.clear();
    progress.clear();
    const clear = '\r\u001b[2K';
    expect(screen.written).toEqual([`${clear}Uploading 4.0 MB 25`, `${clear}Uploading 4.0 MB 10`, clear]);
  });
});
