import { type Sound, openSound } from '../../engines/media/write-audio.ts';
import type { InputFile, ToolContext } from '../define.ts';
import { eachMedia, type Progress } from '../video/each-video.ts';

type Context = Pick<ToolContext<unknown>, 'inputs' | 'signal' | 'progress'>;

/** Opens one input after the other and does the work for it. @throws Failure `invalid_input` for a file without sound. */
export function eachSound(
  context: Context,
  work: (sound: Sound, input: InputFile, onProgress: Progress) => Promise<void>,
  inputs = context.inputs,
): Promise<void> {
  return eachMedia(
    context,
    async (media, input, onProgress) => work(await openSound(media, context.signal), input, onProgress),
    inputs,
  );
}
