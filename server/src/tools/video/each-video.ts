import { type Media, probe } from '../../engines/media/probe.ts';
import { type Video, assertVideo } from '../../engines/media/write-video.ts';
import type { InputFile, ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';

/** Receives how much of one input's work is done, 0 to 100. */
export type Progress = (percent: number) => void;

type Context = Pick<ToolContext<unknown>, 'inputs' | 'signal' | 'progress'>;
type Work<T> = (media: T, input: InputFile, onProgress: Progress) => Promise<void>;

/** Opens one input after the other and does the work for it. */
export function eachMedia(context: Context, work: Work<Media>, inputs = context.inputs): Promise<void> {
  let done = 0;
  return eachInput(
    context,
    async (input) => {
      const media = await probe(input, context.signal);
      await work(media, input, (percent) => context.progress((done * 100 + percent) / inputs.length));
      done++;
    },
    inputs,
  );
}

/** As `eachMedia`. @throws Failure `invalid_input` for a file with sound alone. */
export function eachVideo(context: Context, work: Work<Video>, inputs = context.inputs): Promise<void> {
  return eachMedia(context, (media, input, onProgress) => work(assertVideo(media), input, onProgress), inputs);
}

/** The part of a progress that lies between two percentages. */
export function part(onProgress: Progress, from: number, to: number): Progress {
  return (percent) => onProgress(from + (percent * (to - from)) / 100);
}
