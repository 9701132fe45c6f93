/** `[a b c d e f]` of a PDF transformation. */
export type Matrix = readonly [number, number, number, number, number, number];
export const identity: Matrix = [1, 0, 0, 1, 0, 0];

/** The transformation that first does `inner`, then `outer`. */
export function multiply(inner: Matrix, outer: Matrix): Matrix {
  const [a, b, c, d, e, f] = inner;
  const [A, B, C, D, E, F] = outer;
  return [a * A + b * C, a * B + b * D, c * A + d * C, c * B + d * D, e * A + f * C + E, e * B + f * D + F];
}

/** An XObject that a content stream draws, and the transformation in force. */
export interface Drawing {
  name: string;
  matrix: Matrix;
}

/** More drawings or open graphics states than this exist only in hostile files. */
const maxDrawings = 100_000;
const maxStates = 1000;

/**
 * What a content stream draws with `Do`. Only the operators that matter are understood (`q Q cm Do`); strings and inline
 * images are stepped over.
 */
export function findDrawings(content: Uint8Array, start: Matrix): Drawing[] {
  const drawings: Drawing[] = [];
  const states: Matrix[] = [];
  let matrix = start;
  let operands: string[] = [];
  for (const token of tokens(content)) {
    if (isOperand(token)) {
      operands.push(token);
      if (operands.length > 64) operands.shift();
      continue;
    }
    if (token === 'q' && states.length < maxStates) states.push(matrix);
    else if (token === 'Q') matrix = states.pop() ?? matrix;
    else if (token === 'cm') matrix = concatenated(operands, matrix);
    else if (token === 'Do') drawings.push({ name: operands.at(-1)?.slice(1) ?? '', matrix });
    if (drawings.length >= maxDrawings) break;
    operands = [];
  }
  return drawings;
}

/** How many graphics states a content stream saves and never restores; 0 when it cannot be read. */
export function unclosedStates(content: Uint8Array | undefined): number {
  let open = 0;
  for (const token of tokens(content ?? new Uint8Array())) {
    if (token === 'q') open += 1;
    else if (token === 'Q') open = Math.max(0, open - 1);
  }
  return Math.min(open, maxStates);
}

function concatenated(operands: readonly string[], matrix: Matrix): Matrix {
  const numbers = operands.slice(-6).map(Number);
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) return matrix;
  return multiply(numbers as unknown as Matrix, matrix);
}

function isOperand(token: string): boolean {
  return token.startsWith('/') || /^[+-.\d]/.test(token);
}

const tokenPattern = /%[^\r\n]*|\(|<[0-9A-Fa-f\s]*>|[[\]{}<>]|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g;

/** The names, numbers and operators of a content stream, in one pass. */
function* tokens(content: Uint8Array): Generator<string> {
  const text = Buffer.from(content).toString('latin1');
  const pattern = new RegExp(tokenPattern);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const token = match[0];
    if (token === '(') pattern.lastIndex = endOfString(text, pattern.lastIndex);
    else if (token === 'ID') pattern.lastIndex = endOfInlineImage(text, pattern.lastIndex);
    else if (!/^[%<>[\]{}]/.test(token)) yield token;
  }
}

/** Where the string ends whose content begins at `start`: brackets nest, a backslash takes away a character's meaning. */
export function endOfString(text: string, start: number): number {
  let depth = 1;
  for (let index = start; index < text.length; index++) {
    const character = text[index];
    if (character === '\\') index += 1;
    else if (character === '(') depth += 1;
    else if (character === ')' && --depth === 0) return index + 1;
  }
  return text.length;
}

/** Where the inline image ends whose data begins at `start`. */
export function endOfInlineImage(text: string, start: number): number {
  const end = /\sEI(?!\S)/g;
  end.lastIndex = start;
  return end.exec(text) === null ? text.length : end.lastIndex;
}
