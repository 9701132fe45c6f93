/** What is beyond ASCII in a text whose bytes are read as characters. */
export const beyondAscii = /[\x80-\xff]+/g;

/**
 * Whether text in an older encoding can be of a language with Latin letters: there, letters with accents stand alone or in
 * pairs; in other scripts every letter is beyond ASCII.
 */
export function mayBeWestern(sample: Buffer): boolean {
  const runs = sample.toString('latin1').match(beyondAscii) ?? [];
  const long = runs.filter((run) => run.length > 2 && !/^(.)\1+$/.test(run));
  const count = (of: readonly string[]) => of.reduce((sum, run) => sum + run.length, 0);
  return count(long) < 10 || count(long) < count(runs) / 2;
}
