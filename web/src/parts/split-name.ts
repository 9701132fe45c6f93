/** Characters up to which a name is shown in one piece. */
const shortName = 28;
/** Characters of the end that are always shown: enough for `-v2-signed.pdf`. */
const tailLength = 12;

const segmenter = new Intl.Segmenter();

/**
 * A name in two parts, of which the first may be cut where there is too little room: the end says what a file is. Never
 * between a letter and its accents. The second part is empty for a short name.
 */
export function splitName(name: string): [head: string, tail: string] {
  if (name.length <= shortName) return [name, ''];
  const characters = [...segmenter.segment(name)].map(({ segment }) => segment);
  if (characters.length <= shortName) return [name, ''];
  return [characters.slice(0, -tailLength).join(''), characters.slice(-tailLength).join('')];
}
