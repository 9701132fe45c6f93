import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorBody, Output, Run } from '@millrun/sdk';
import { expect } from 'vitest';
import { satisfies } from '../../src/files/accept.ts';
import type { FileTypeId } from '../../src/lib/media-types.ts';
import type { Tool } from '../../src/tools/define.ts';
import type { Client, FormFile } from '../client.ts';
import { sample, sampleTypes } from '../fixtures/samples.ts';
import { edgesOf, rowsOf, valueBeyond, type Choice } from './edges.ts';
import { inspect } from './second-opinion.ts';
import type { Seen, ToolCase } from './tool-case.ts';

/** The tests of one tool. */
export interface Trial {
  eachType(): Promise<void>;
  otherTypes(): Promise<void>;
  edges(): Promise<void>;
  again(): Promise<void>;
  /** The id of the run when it was cancelled in mid run; none when the tool was quicker. */
  cancel(): Promise<string[]>;
}

/** Errors that tell a caller what is wrong with a file or a setting. */
const clearErrors: readonly string[] = ['invalid_input', 'resource_limit', 'password_required'];

/** Of many outputs of a kind, as many as are opened; of a run that is about a setting, the first. */
const enough = { usual: 10, edge: 1 };

/**
 * Everything is tried by `npm run contract`, which takes five minutes or more. The tests that run on every change try each
 * tool on one type, with one value of each setting, and all that costs no run.
 */
const isFull = process.env['MILLRUN_CONTRACT'] === 'full';

let seenBefore = 0;

export function createTrial(tool: Tool, toolCase: ToolCase, client: Client, directory: string): Trial {
  const types: readonly (FileTypeId | undefined)[] = acceptedTypes(tool);
  const firstType = types.find((type) => type === undefined || toolCase.refuses?.[type] === undefined);
  const usual = usualFor(firstType);
  /** What came of the first type, to be compared with the same run again. */
  let firstKinds: string[] | undefined;

  function usualFor(type: FileTypeId | undefined): Record<string, string> {
    return { ...toolCase.settings, ...toolCase.settingsFor?.(type) };
  }

  function filesFor(type: FileTypeId | undefined): readonly FormFile[] {
    if (toolCase.files !== undefined) return toolCase.files(type);
    if (type === undefined) return [];
    return Array.from({ length: Math.max(1, tool.files.min) }, () => toolCase.replaces?.[type] ?? fileOf(type));
  }

  /** The run once it has ended, however long it waits for its turn; the test's own limit ends it. */
  async function ended(id: string): Promise<Run> {
    for (;;) {
      const run = (await (await client.request(`/runs/${id}?wait=60`)).json()) as Run;
      if (run.status === 'done' || run.status === 'failed') return run;
    }
  }

  async function look(run: Run, opened: number): Promise<Seen[]> {
    return Promise.all((run.outputs ?? []).map((output, index) => lookAt(output, index < opened)));
  }

  async function lookAt({ filename, media_type, url, size_bytes }: Output, isOpened: boolean): Promise<Seen> {
    const path = join(directory, String((seenBefore += 1)));
    const seen = { filename, mediaType: media_type, path };
    if (!isOpened) return { ...seen, sizeBytes: size_bytes };
    const response = await client.request(url);
    await writeFile(path, Buffer.from(await response.arrayBuffer()));
    try {
      return { ...seen, ...(await inspect(path, media_type)) };
    } catch (error) {
      throw new Error(`${filename} (${media_type}) is not what it should be: ${String(error)}`, { cause: error });
    }
  }

  /** Runs with the usual settings; says what went wrong. */
  async function tryType(type: FileTypeId | undefined): Promise<string | undefined> {
    const refusal = type === undefined ? undefined : toolCase.refuses?.[type];
    const response = await client.submit(tool.slug, filesFor(type), usualFor(type));
    const text = await response.text();
    if (response.status !== 202) return `${type}: ${response.status} ${text}`;
    const run = await ended((JSON.parse(text) as { id: string }).id);
    if (refusal !== undefined) return run.error?.code === refusal ? undefined : `${type}: was to fail as ${refusal}`;
    if (run.error !== undefined) return `${type}: ${JSON.stringify(run.error)}`;
    if (run.outputs?.length === 0) return `${type}: no output`;
    try {
      if (type === firstType) firstKinds = kindsOf(run);
      await toolCase.expect?.(await look(run, enough.usual), type);
      return undefined;
    } catch (error) {
      return `${type}: ${(error as Error).message}`;
    }
  }

  /** Runs with one value beside the usual ones; says what went wrong. */
  async function tryAlone({ name, value }: Choice): Promise<string | undefined> {
    const named = `${name}=${value}`;
    const reason = toolCase.fails?.[named];
    const problem = await trySettings({ ...toolCase.together?.[name], [name]: value });
    if (reason === undefined) return problem === undefined ? undefined : `${named}: ${problem.text}`;
    if (problem === undefined) return `${named}: was to fail, because ${reason}`;
    return problem.isClear ? undefined : `${named}: ${problem.text}`;
  }

  /** Runs with several values at once; when they do not go together, or one is wrong, each of them alone. */
  async function tryTogether(row: readonly Choice[]): Promise<(string | undefined)[]> {
    const settings = Object.fromEntries(row.map(({ name, value }) => [name, value]));
    if (row.length > 1 && (await trySettings(settings)) === undefined) return [];
    const problems = [];
    for (const choice of row) problems.push(await tryAlone(choice));
    return problems;
  }

  async function trySettings(
    settings: Record<string, string>,
  ): Promise<{ text: string; isClear: boolean } | undefined> {
    const response = await client.submit(tool.slug, filesFor(firstType), { ...usual, ...settings });
    const text = await response.text();
    if (response.status !== 202) return { text: `${response.status} ${text}`, isClear: response.status === 422 };
    const run = await ended((JSON.parse(text) as { id: string }).id);
    if (run.error !== undefined) {
      return { text: JSON.stringify(run.error), isClear: clearErrors.includes(run.error.code) };
    }
    return look(run, enough.edge).then(
      () => undefined,
      (error: Error) => ({ text: error.message, isClear: false }),
    );
  }

  function isTried(name: string): boolean {
    return [usual, toolCase.values, toolCase.together].some((tried) => tried?.[name] !== undefined);
  }

  return {
    async eachType() {
      const unknown = types.filter(
        (type) =>
          type !== undefined && toolCase.files === undefined && type !== 'binary' && !sampleTypes.includes(type),
      );
      expect(unknown, 'types without a sample').toEqual([]);
      noneOf(await several(isFull ? types : [firstType], tryType));
    },

    async otherTypes() {
      const wrong = sampleTypes.find((type) => !satisfies(type, tool.accepts, sample(type)));
      const file: FormFile = wrong === undefined ? { filename: 'empty.bin', content: '' } : sample(wrong);
      const files = Array.from({ length: Math.max(1, tool.files.min) }, () => file);
      const response = await client.submit(tool.slug, files, usual);
      const body = (await response.json()) as ErrorBody & { errors?: Record<string, string[]> };
      expect(response.status, JSON.stringify(body)).toBe(422);
      expect(Object.keys(body.errors ?? {}).some((name) => name.startsWith('files'))).toBe(true);
    },

    async edges() {
      const properties = Object.entries(tool.settings).map(([name, { schema }]) => [name, schema] as const);
      const untried = properties.filter(([name, schema]) => edgesOf(schema).length === 0 && !isTried(name));
      expect(
        untried.map(([name]) => name),
        'settings that no run uses',
      ).toEqual([]);
      const choices = properties.map(([name, schema]) =>
        [...new Set([...edgesOf(schema), ...(toolCase.values?.[name] ?? [])])]
          .filter((value) => usual[name] !== value && toolCase.skips?.[`${name}=${value}`] === undefined)
          .map((value) => ({ name, value })),
      );
      const isSpecial = ({ name, value }: Choice) =>
        toolCase.together?.[name] !== undefined || toolCase.fails?.[`${name}=${value}`] !== undefined;
      const alone = choices.flat().filter(isSpecial);
      const rows = rowsOf(choices.map((values) => values.filter((choice) => !isSpecial(choice))));
      const trials = [
        ...(isFull ? rows : rows.slice(0, 1)).map((row) => () => tryTogether(row)),
        ...(isFull ? alone : []).map((one) => async () => [await tryAlone(one)]),
      ];
      noneOf((await several(trials, (run) => run())).flat());
      await refusesBeyond(properties);
    },

    async again() {
      const { id } = await client.accepted(tool.slug, filesFor(firstType), usual);
      const messages = await client.messages(id);
      const progress = messages.map((message) => message.progress ?? 0).filter((percent) => percent > 0);
      expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      const run = await ended(id);
      expect(run.status, JSON.stringify(run.error)).toBe('done');
      firstKinds ??= kindsOf(await ended((await client.accepted(tool.slug, filesFor(firstType), usual)).id));
      expect(kindsOf(run)).toEqual(firstKinds);
    },

    async cancel() {
      const { id } = await client.accepted(tool.slug, filesFor(firstType), usual);
      await begun(client, id);
      const { status } = await client.request(`/runs/${id}/cancel`, { method: 'POST' });
      expect([202, 409]).toContain(status);
      const run = await ended(id);
      if (status === 202) expect(run.error?.code).toBe('cancelled');
      return status === 202 ? [id] : [];
    },
  };

  /** One submission with every setting beyond its edge: each is named in the reply. */
  async function refusesBeyond(
    properties: readonly (readonly [string, Tool['settings'][string]['schema']])[],
  ): Promise<void> {
    const beyond = Object.fromEntries(
      properties.flatMap(([name, schema]) => {
        const value = valueBeyond(schema);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const names = Object.keys(beyond);
    if (names.length === 0) return;
    const response = await client.submit(tool.slug, filesFor(firstType), { ...usual, ...beyond });
    expect(response.status).toBe(422);
    const { errors } = (await response.json()) as { errors: Record<string, string[]> };
    expect(Object.keys(errors)).toEqual(expect.arrayContaining(names));
  }
}

function kindsOf({ outputs = [] }: Run): string[] {
  return outputs.map(({ filename, media_type }) => `${filename} ${media_type}`);
}

function noneOf(problems: readonly (string | undefined)[]): void {
  const found = problems.filter((problem) => problem !== undefined);
  expect(found, found.join('\n')).toEqual([]);
}

/** Waits until a worker has taken it, or has even ended it. */
async function begun(client: Client, id: string): Promise<void> {
  while (((await (await client.request(`/runs/${id}`)).json()) as Run).status === 'queued') await sleep(20);
}

/** Some at a time: as many as the server works on, and as many again that wait. */
async function several<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const one = async () => {
    for (const [index, item] of next) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: 4 }, one));
  return results;
}

/** Bytes of no format at all. */
const nameless: FormFile = {
  filename: 'data.bin',
  content: Uint8Array.from({ length: 999 }, (_, at) => (at * 7919) % 251),
};

function fileOf(type: FileTypeId): FormFile {
  return type === 'binary' ? nameless : sample(type);
}

function acceptedTypes(tool: Tool): readonly (FileTypeId | undefined)[] {
  if (tool.files.max === 0) return [undefined];
  const types: (FileTypeId | undefined)[] =
    tool.accepts === 'any' ? ['png', 'txt', 'zip', 'binary'] : [...tool.accepts];
  return tool.files.min === 0 ? [undefined, ...types] : types;
}
