import { stemOf } from '../file-kind.ts';

interface Named {
  filename: string;
}

/**
 * Which input each output was made of, as far as names and order tell: an index into `inputs`, or undefined. Outputs keep
 * the stem of their input, and get `-1`, `-2`, … where names clash.
 */
export function pairWithInputs(outputs: readonly Named[], inputs: readonly Named[]): (number | undefined)[] {
  if (outputs.length === inputs.length && outputs.every((output, index) => madeOf(output, inputs[index])))
    return outputs.map((_, index) => index);
  const inputStems = inputs.map(({ filename }) => key(filename));
  const outputStems = outputs.map(({ filename }) => key(filename));
  return outputStems.map((stem) => {
    const index = inputStems.indexOf(stem);
    const alone = inputStems.lastIndexOf(stem) === index && outputStems.indexOf(stem) === outputStems.lastIndexOf(stem);
    return index >= 0 && alone ? index : undefined;
  });
}

function madeOf(output: Named, input: Named | undefined): boolean {
  return input !== undefined && key(output.filename).startsWith(key(input.filename));
}

/** File systems write the same letter in more than one way, and the service keeps one of them. */
function key(filename: string): string {
  return stemOf(filename.normalize('NFC'));
}

/** By how many per cent a file became smaller (positive) or larger (negative), whole but never 0 or 100 by rounding. */
export function percentSaved(before: number, after: number): number | undefined {
  if (before <= 0) return undefined;
  const percent = (1 - after / before) * 100;
  if (percent === 0 || percent === 100) return percent;
  const rounded = Math.round(percent);
  if (rounded === 0) return percent > 0 ? 1 : -1;
  return rounded === 100 ? 99 : rounded;
}

/** `75 % smaller`, `12 % larger`, `same size`. */
export function sayChange(before: number, after: number): string | undefined {
  const percent = percentSaved(before, after);
  if (percent === undefined) return undefined;
  if (percent === 0) return 'same size';
  if (percent < -900) return `${Math.round(after / before)} times as large`;
  return percent > 0 ? `${percent} % smaller` : `${-percent} % larger`;
}
