import { stat } from 'node:fs/promises';
import type { Engine } from './engine.ts';

/** What changes when a program is installed, upgraded or removed. */
const places = ['/usr/bin', '/usr/local/bin', '/usr/lib/libreoffice/program', '/var/lib/dpkg/status'];

const known = new Map<string, { version: string; places: string }>();

/**
 * Which engines are installed here: id to version. Two dozen programs cost seconds of processor time to ask, and workers
 * ask again and again, so what was found is believed until something is installed or removed. What is missing is looked
 * for every time.
 */
export async function examineEngines(engines: readonly Engine[]): Promise<Record<string, string>> {
  const now = await placesNow();
  const found = await Promise.all(engines.map(async (engine) => [engine.id, await versionOf(engine, now)] as const));
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

async function versionOf(engine: Engine, now: string): Promise<string | undefined> {
  const before = known.get(engine.id);
  if (before?.places === now) return before.version;
  const version = await engine.version();
  if (version === undefined) known.delete(engine.id);
  else known.set(engine.id, { version, places: now });
  return version;
}

async function placesNow(): Promise<string> {
  const times = await Promise.all(
    places.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return times.join(' ');
}
