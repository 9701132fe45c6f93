/**
 * Whether a path matches a pattern: `*` stands for anything within a name, `**` for anything, `?` for one character. A
 * pattern without a slash is matched against the name alone. Case does not matter. Time grows with the product of both
 * lengths at worst, whatever the pattern.
 */
export function matchesGlob(path: string, pattern: string): boolean {
  const subject = pattern.includes('/') ? path : (path.split('/').at(-1) ?? path);
  return matches(subject.toLowerCase(), tokensOf(pattern.toLowerCase().replace(/^\.?\//, '')));
}

type Token = { kind: 'any' | 'anyInName' | 'one' } | { kind: 'character'; character: string };

function tokensOf(pattern: string): Token[] {
  // `**/` also stands for no directory at all.
  return [...pattern.matchAll(/\*\*\/?|\*|\?|./gsu)].map(([text]) => {
    if (text.startsWith('**')) return { kind: 'any' };
    if (text === '*') return { kind: 'anyInName' };
    return text === '?' ? { kind: 'one' } : { kind: 'character', character: text };
  });
}

/** Row by row: which beginnings of the subject the tokens so far can match. */
function matches(subject: string, tokens: readonly Token[]): boolean {
  const characters = [...subject];
  let reachable = new Set([0]);
  for (const token of tokens) {
    const next = new Set<number>();
    for (const from of reachable) {
      if (token.kind === 'any' || token.kind === 'anyInName') {
        let at = from;
        next.add(at);
        while (at < characters.length && (token.kind === 'any' || characters[at] !== '/') && !next.has(at + 1)) {
          at++;
          next.add(at);
        }
      } else if (fits(token, characters[from])) next.add(from + 1);
    }
    reachable = next;
  }
  return reachable.has(characters.length);
}

function fits(token: Token, character: string | undefined): boolean {
  if (character === undefined) return false;
  return token.kind === 'one' ? character !== '/' : token.kind === 'character' && token.character === character;
}
