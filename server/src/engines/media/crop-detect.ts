import type { Box } from '../image-geometry.ts';
import { runFfmpeg } from '../ffmpeg.ts';
import type { Video } from './write-video.ts';

/** Longer videos are judged by their key frames alone. */
const wholeSeconds = 60;

/**
 * Finds what black borders leave of a picture, over all of it; undefined when everything is dark. Pixels of the upright
 * picture as it is stored.
 */
export async function detectBorders(
  { file, picture, durationSeconds }: Video,
  signal: AbortSignal,
  onProgress?: (percent: number) => void,
): Promise<Box | undefined> {
  const edges: Partial<Record<string, number>> = {};
  await runFfmpeg({
    inputs: [{ source: file, options: durationSeconds > wholeSeconds ? ['-skip_frame', 'nokey'] : [] }],
    args: [
      ...['-map', `0:${picture.index}`],
      ...['-vf', 'cropdetect=limit=24/255:round=2:skip=0:reset=0,metadata=print:file=-'],
    ],
    output: null,
    onLine: (line) => {
      const [, edge, value] = /^lavfi\.cropdetect\.([xywh])=(-?\d+)$/.exec(line) ?? [];
      if (edge !== undefined) edges[edge] = Number(value);
    },
    durationSeconds,
    onProgress,
    signal,
  });
  const { x: left = 0, y: top = 0, w: width = 0, h: height = 0 } = edges;
  return width > 0 && height > 0 ? { left, top, width, height } : undefined;
}
