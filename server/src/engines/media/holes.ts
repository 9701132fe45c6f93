import { open } from 'node:fs/promises';
import { Failure } from '../../lib/failure.ts';
import { runProgram } from '../../sandbox/program.ts';
import { type MediaFile, openOptions } from '../ffmpeg.ts';
import { type Media, cutShort, measureSeconds, probe } from './probe.ts';

/** Less than this is lost, in seconds, when a single packet cannot be read. */
const holeSeconds = 0.1;

/**
 * Looks for a hole in a file that FFmpeg has read without a complaint, or with no more than that it had to `skip` bytes:
 * it shortens sound by a hole and repeats the picture before it.
 *
 * @throws Failure `invalid_input` for a file of which a part in the middle is lost.
 */
export async function assertNoHole(file: MediaFile, skipped: boolean, signal?: AbortSignal): Promise<void> {
  if (file.type === 'avi') return assertAllChunks(file, signal);
  if (skipped) await assertSteadyClock(await probe(file, signal), signal);
}

/** AVI tells no times: what is lost shows in the lengths of its streams alone, and few writers state them exactly. */
async function assertAllChunks(file: MediaFile, signal?: AbortSignal): Promise<void> {
  if (await isChainOfChunks(file.path)) return;
  const media = await probe(file, signal);
  for (const stream of [...media.videos, ...media.audios]) {
    const { durationSeconds } = stream;
    if (durationSeconds === undefined) continue;
    const readable = await measureSeconds(file, [stream], signal);
    if (durationSeconds - readable > holeSeconds) throw cutShort({ file, durationSeconds }, readable);
  }
}

/** Sound goes on without a break, while a picture may stand still: it decides where there is some. */
async function assertSteadyClock({ file, startSeconds, audios, videos }: Media, signal?: AbortSignal): Promise<void> {
  const [stream] = [...audios, ...videos];
  if (stream === undefined) return;
  const shown = ['-select_streams', String(stream.index), '-show_entries', 'packet=pts_time,duration_time'];
  let end = Infinity;
  let hole: { from: number; to: number } | undefined;
  await runProgram('ffprobe', ['-hide_banner', '-v', 'error', ...shown, '-of', 'csv=p=0', ...openOptions(file)], {
    onLine: (line) => {
      const [from = NaN, seconds = NaN] = line.split(',').map(Number.parseFloat);
      if (Number.isNaN(from + seconds)) return;
      if (from - end > holeSeconds) hole ??= { from: end - startSeconds, to: from - startSeconds };
      end = Math.max(end === Infinity ? 0 : end, from + seconds);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  if (hole === undefined) return;
  const message = `"${file.filename}" is damaged: nothing can be read from ${hole.from.toFixed(1)} to ${hole.to.toFixed(1)} seconds.`;
  throw new Failure('invalid_input', message, { file: file.filename });
}

const windowBytes = 64 * 1024;

/** Whether the chunks of a RIFF file follow each other up to its end. */
async function isChainOfChunks(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const window = Buffer.alloc(windowBytes);
    let [from, filled] = [0, 0];
    for (let at = 0; at + 12 <= size;) {
      if (at < from || at + 12 > from + filled) {
        from = at;
        filled = (await file.read(window, 0, windowBytes, at)).bytesRead;
      }
      const header = window.subarray(at - from, at - from + 12);
      const next = at + chunkBytes(header);
      if (!/^[ -~]{4}/.test(header.toString('latin1')) || next > size + 1) return false;
      at = next;
    }
    return true;
  } finally {
    await file.close();
  }
}

/** How far it is to the next chunk: the first inside of this one, where it holds some. */
function chunkBytes(header: Buffer): number {
  const name = header.toString('latin1', 0, 4);
  const kind = header.toString('latin1', 8, 12);
  if (name === 'RIFF' || (name === 'LIST' && (kind === 'movi' || kind === 'rec '))) return 12;
  const bytes = header.readUInt32LE(4);
  return 8 + bytes + (bytes % 2);
}
