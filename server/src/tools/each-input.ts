import type { InputFile, ToolContext } from './define.ts';

/**
 * Does the work for one input after the other: stops between two when the run ends, and says how far it is. Work of many
 * steps says itself how much of its input is done: a share up to 1.
 */
export async function eachInput(
  context: Pick<ToolContext<unknown>, 'inputs' | 'signal' | 'progress'>,
  work: (input: InputFile, onShare: (share: number) => void) => Promise<void>,
  inputs: readonly InputFile[] = context.inputs,
): Promise<void> {
  for (const [index, input] of inputs.entries()) {
    context.signal.throwIfAborted();
    await work(input, (share) => context.progress(((index + share) / inputs.length) * 100));
    context.progress(((index + 1) / inputs.length) * 100);
  }
}

/** Turns bytes read of all inputs into progress: call it with the count of every piece. `passes` is how often each is read. */
export function byteProgress(
  { inputs, progress }: Pick<ToolContext<unknown>, 'inputs' | 'progress'>,
  passes = 1,
): (count: number) => void {
  const total = inputs.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) * passes;
  let read = 0;
  return (count) => {
    read += count;
    progress((read / total) * 100);
  };
}
