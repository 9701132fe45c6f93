import type { Tool } from '@millrun/sdk';

/** Words that say nothing of what somebody looks for: `jpg to png`. */
const fillers = new Set(['a', 'an', 'and', 'by', 'for', 'from', 'in', 'into', 'my', 'of', 'the', 'to', 'with']);

/** Where a word is found, the better the higher. */
const weights = { startOfName: 8, name: 5, format: 4, slug: 3, category: 2, description: 1 } as const;

/**
 * The tools that match every word of the text, the best first; all of them, in their order, when there is no word. A word
 * matches the beginning of a word in the name, slug, category or description, or a format that is read or written.
 */
export function findTools(tools: readonly Tool[], text: string): readonly Tool[] {
  const words = wordsOf(text);
  if (words.length === 0) return tools;
  return tools
    .map((tool) => ({ tool, score: scoreOf(tool, words) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ tool }) => tool);
}

function wordsOf(text: string): string[] {
  const words = split(text);
  const telling = words.filter((word) => !fillers.has(word));
  return telling.length > 0 ? telling : words;
}

/** Zero as soon as one word is found nowhere. */
function scoreOf(tool: Tool, words: readonly string[]): number {
  const name = split(tool.name);
  const slug = split(tool.slug);
  const description = split(tool.description);
  const formats = formatsOf(tool);
  let score = 0;
  for (const word of words) {
    const starts = (candidate: string) => candidate.startsWith(word);
    let best = 0;
    if (name[0]?.startsWith(word) === true) best = weights.startOfName;
    else if (name.some(starts)) best = weights.name;
    else if (formats.has(word)) best = weights.format;
    else if (slug.some(starts)) best = weights.slug;
    else if (tool.category.startsWith(word)) best = weights.category;
    else if (description.some(starts) || [...formats].some(starts)) best = weights.description;
    if (best === 0) return 0;
    score += best;
  }
  return score;
}

function formatsOf({ accepts, produces }: Tool): Set<string> {
  return new Set([accepts, produces].flatMap((types) => (types === 'any' ? [] : types.extensions)));
}

function split(text: string): string[] {
  return text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((word) => word !== '');
}
