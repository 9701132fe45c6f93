import { Failure } from '../../lib/failure.ts';
import { type WrittenAudioType, audioEncodingOptions, resultingRate, usualCodec } from './audio-formats.ts';
import type { AudioStream } from './probe.ts';
import { transcode } from './transcode.ts';
import { type Sound, containerOptions } from './write-audio.ts';

export interface MergeJob {
  sounds: readonly [Sound, ...Sound[]];
  output: { type: WrittenAudioType; path: string };
  bitRate: number;
  /** Seconds in which one goes over into the next. Not together with a gap. */
  crossfade: number;
  /** Seconds of silence between two. */
  gap: number;
  signal: AbortSignal;
  onProgress(percent: number): void;
}

/** Encoders fill up the last frame, and files count that in: up to so many seconds each. */
const padding = 0.06;

/**
 * Writes sounds one after the other into one file, at the highest of their sample rates and in stereo unless all have the
 * same channels.
 *
 * @throws Failure `invalid_input` for a sound shorter than its crossfades; as `transcode`.
 */
export async function mergeAudio({
  sounds,
  output,
  bitRate,
  crossfade,
  gap,
  signal,
  onProgress,
}: MergeJob): Promise<void> {
  for (const [index, sound] of sounds.entries()) assertLongEnough(sound, index, sounds.length, crossfade);
  const shape = commonShape(sounds.map(({ track }) => track));
  const codec = usualCodec(output.type, shape);
  const { filters, options } = audioEncodingOptions({ codec, bitRate }, shape);
  const rate = resultingRate(codec, shape.sampleRate);
  const layout = shape.channels === 1 ? ':channel_layouts=mono' : shape.channels === 2 ? ':channel_layouts=stereo' : '';
  const prepared = sounds.map(({ track }, index) => {
    const pad = gap > 0 && index < sounds.length - 1 ? `,apad=pad_dur=${gap}` : '';
    return `[${index}:${track.index}]aresample=${rate},aformat=sample_fmts=fltp${layout},asetpts=N/SR/TB${pad}[s${index}]`;
  });
  const closing = filters.length === 0 ? '[merged]anull[out]' : `[merged]${filters.join(',')}[out]`;
  const joints = sounds.length - 1;
  const total = sounds.reduce((sum, { soundSeconds }) => sum + soundSeconds, 0) + joints * (gap - crossfade);
  await transcode({
    inputs: sounds.map(({ file }) => ({ source: file })),
    args: [
      ...['-filter_complex', [...prepared, joined(sounds.length, crossfade), closing].join(';')],
      // Tags and covers of one of them would be wrong for all.
      ...['-map', '[out]', '-map_metadata', '-1', '-map_chapters', '-1'],
      ...options,
      ...containerOptions(output.type),
    ],
    output,
    expected: { durationSeconds: total - sounds.length * padding, mayBeLonger: true, video: false, audioTracks: 1 },
    signal,
    onProgress,
  });
}

/** The filter graph that makes `[merged]` of `[s0]`, `[s1]`, … */
function joined(count: number, crossfade: number): string {
  const names = Array.from({ length: count }, (_, index) => `[s${index}]`);
  if (crossfade === 0) return `${names.join('')}concat=n=${count}:v=0:a=1[merged]`;
  const steps = names.slice(1).map((name, index) => {
    const before = index === 0 ? '[s0]' : `[x${index}]`;
    const after = index === count - 2 ? '[merged]' : `[x${index + 1}]`;
    return `${before}${name}acrossfade=d=${crossfade}${after}`;
  });
  return steps.join(';');
}

function assertLongEnough(
  { file: { filename }, soundSeconds }: Sound,
  index: number,
  count: number,
  crossfade: number,
) {
  // In the middle it fades in and out.
  const needed = index === 0 || index === count - 1 ? crossfade : 2 * crossfade;
  if (soundSeconds >= needed) return;
  const message = `"${filename}" lasts ${soundSeconds.toFixed(2)} seconds, too short for crossfades of ${crossfade} seconds.`;
  throw new Failure('invalid_input', message, { file: filename });
}

/** What all sounds are brought to. */
function commonShape(tracks: readonly AudioStream[]): AudioStream {
  const [first] = tracks;
  if (first === undefined) throw new Error('nothing to merge');
  const sameChannels = tracks.every(({ channels }) => channels === first.channels);
  const deepest = tracks.find(({ sampleBits = 0 }) => sampleBits > 16) ?? first;
  return {
    ...deepest,
    sampleRate: Math.max(...tracks.map(({ sampleRate }) => sampleRate)),
    channels: sameChannels ? first.channels : 2,
  };
}
