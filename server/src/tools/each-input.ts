import type { InputFile, ToolContext } from './define.ts';

/** Does the work for one input after the other: stops between two when the run ends, and says how far it is. */
export async function eachInput(
  context: Pick<ToolContext<unknown>, 'inputs' | 'signal' | 'progress'>,
  work: (input: InputFile) => Promise<void>,
  inputs: readonly InputFile[] = context.inputs,
): Promise<void> {
  for (const [index, input] of inputs.entries()) {
    context.signal.throwIfAborted();
    await work(input);
    context.progress(((index + 1) / inputs.length) * 100);
  }
}
