import { isActive, type SeenRun } from '../../parts/run-state.ts';

/** Runs whose streams are followed at once: a browser keeps six connections to a server, and the page needs some. */
const mostFollowed = 3;

/** The runs to follow: those on the screen first, of these the ones that are being processed. */
export function toFollow(runs: readonly SeenRun[], onScreen: ReadonlySet<string>): string[] {
  const urgency = (run: SeenRun) => (onScreen.has(run.id) ? 2 : 0) + (run.status === 'processing' ? 1 : 0);
  return runs
    .filter(({ status }) => isActive(status))
    .toSorted((one, other) => urgency(other) - urgency(one))
    .slice(0, mostFollowed)
    .map(({ id }) => id);
}

/** The rows as they were, with what has become of them, and how many new ones do not show yet. */
export function holdPlaces(held: readonly SeenRun[], fresh: readonly SeenRun[]): { rows: SeenRun[]; waiting: number } {
  const now = new Map(fresh.map((run) => [run.id, run]));
  const known = new Set(held.map(({ id }) => id));
  return {
    rows: held.map((run) => now.get(run.id) ?? run),
    waiting: fresh.filter(({ id }) => !known.has(id)).length,
  };
}
