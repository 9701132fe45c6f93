import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Category } from '../../src/tools/define.ts';
import { tools } from '../../src/tools/registry.ts';
import type { Client } from '../client.ts';
import { filesOfRuns } from '../faults/audit.ts';
import { descendants } from '../faults/processes.ts';
import { eventually, useServer } from '../scenario.ts';
import { withoutOpinion } from './second-opinion.ts';
import type { Cases } from './tool-case.ts';
import { createTrial, type Trial } from './trial.ts';

/** What stays while no run is under way: the database, hosts that wait in their sandboxes, and engines they keep warm. */
const residents =
  /postgres|host-main\.ts|bwrap|prlimit|bin\/millrun|soffice|oosplash|headless|chrome|esbuild|gpg-agent/;

/**
 * What must hold for every tool of these categories, through the API of a real server: each accepted type gives a result
 * that a second program opens, other types are refused, settings hold at their edges and are refused beyond, cancelling
 * leaves nothing behind, progress never falls, the same input gives the same kind of result.
 */
export function contract(casesOf: Partial<Record<Category, Cases>>, env: Record<string, string> = {}): void {
  const scenario = useServer({ env: { MILLRUN_SLOTS: '2', MILLRUN_CANCEL_WINDOW_S: '3', ...env } });
  vi.setConfig({ testTimeout: 240_000 });
  const setting = { client: undefined as Client | undefined, directory: '' };
  beforeAll(async () => {
    setting.client = await scenario.client();
    setting.directory = await mkdtemp(join(tmpdir(), 'millrun-contract-'));
  });
  afterAll(() => rm(setting.directory, { recursive: true, force: true }));
  const client = () => {
    if (setting.client === undefined) throw new Error('the server has not been started yet');
    return setting.client;
  };
  const cancelled: string[] = [];

  for (const [category, cases] of Object.entries(casesOf)) {
    const ours = tools.filter((tool) => tool.category === category);
    test(`every tool of ${category} has a case, and every case a tool`, () => {
      expect(Object.keys(cases).toSorted()).toEqual(ours.map(({ slug }) => slug).toSorted());
    });
    test(`what tools of ${category} write can be opened by another program`, () => {
      const written = ours.flatMap(({ produces }) => (produces === 'any' ? [] : produces));
      expect(withoutOpinion(written)).toEqual([]);
    });
    for (const tool of ours) {
      const toolCase = cases[tool.slug];
      if (toolCase === undefined) continue;
      describe(tool.slug, () => {
        let made: Trial | undefined;
        const trial = () => (made ??= createTrial(tool, toolCase, client(), setting.directory));
        test('gives a result for every type it accepts', () => trial().eachType());
        test('refuses what it does not accept', () => trial().otherTypes());
        test('works with every setting at its edges, and refuses what lies beyond', () => trial().edges());
        test('gives the same kind of result twice, with progress that never falls', () => trial().again());
        test('can be cancelled', async () => {
          cancelled.push(...(await trial().cancel()));
        });
      });
    }
  }

  test('what was cancelled has left no process and no file', async () => {
    expect(cancelled).not.toEqual([]);
    await eventually('no engine runs', () =>
      descendants(scenario.server.process.pid).every(({ command }) => residents.test(command)),
    );
    await eventually('nothing is being worked on, and no output is kept', async () =>
      (await filesOfRuns(scenario.server, cancelled)).every(
        (path) => path.startsWith('files/') && !path.includes('outputs'),
      ),
    );
  });
}
