import type { Engine } from './engine.ts';

/** Which engines are installed here: id to version. */
export async function examineEngines(engines: readonly Engine[]): Promise<Record<string, string>> {
  const found = await Promise.all(engines.map(async (engine) => [engine.id, await engine.version()] as const));
  return Object.fromEntries(found.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
