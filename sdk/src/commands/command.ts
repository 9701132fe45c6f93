import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { defineCommand, type ArgsDef, type CommandDef } from 'citty';
import type { Millrun } from '../client.ts';
import { MillrunError } from '../errors.ts';
import { connect } from './connection.ts';
import { Refusal } from './refusal.ts';
import { printable } from './text.ts';

/** How a command ends. */
export const exitCodes = { done: 0, runFailed: 1, refused: 2 } as const;

interface Positional {
  name: string;
  describe: string;
  required?: boolean;
  /** Takes all that are left; the last one only. */
  many?: boolean;
}

interface Option {
  describe: string;
  /** What stands for the value in the help; a switch has none. */
  value?: string;
  multiple?: boolean;
}

/** What a command was called with. */
export interface Call {
  client: Millrun;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
  positionals: readonly string[];
  /** The last value of an option. */
  option(name: string): string | undefined;
  /** Every value of an option that may be given several times. */
  options(name: string): readonly string[];
  has(name: string): boolean;
  /** Writes to standard output. */
  print(text: string): void;
}

interface Definition {
  name: string;
  describe: string;
  positionals?: readonly Positional[];
  options?: Readonly<Record<string, Option>>;
  /** Resolves with the exit code. */
  run(call: Call): Promise<number>;
}

const commonOptions: Readonly<Record<string, Option>> = {
  url: { describe: 'Address of the server; otherwise MILLRUN_URL, otherwise http://127.0.0.1:8080', value: 'address' },
  token: {
    describe: 'API token; otherwise MILLRUN_TOKEN, which other users of the machine cannot see',
    value: 'token',
  },
  json: { describe: 'Print JSON' },
};

/** A command of the client: strict about what it is given, one sentence about what went wrong. */
export function clientCommand(definition: Definition): CommandDef {
  const options = { ...definition.options, ...commonOptions };
  const positionals = definition.positionals ?? [];
  return defineCommand({
    meta: { name: definition.name, description: definition.describe },
    args: helpArgs(positionals, options),
    run: async ({ rawArgs }) => {
      process.exitCode = await carryOut(definition, positionals, options, rawArgs);
    },
  });
}

/** For the help. Required ones are checked here, because the framework ends a mistake of theirs with 1. */
function helpArgs(positionals: readonly Positional[], options: Readonly<Record<string, Option>>): ArgsDef {
  const args: ArgsDef = {};
  for (const { name, describe } of positionals)
    args[name] = { type: 'positional', description: describe, required: false };
  for (const [name, { describe, value }] of Object.entries(options)) {
    args[name] =
      value === undefined
        ? { type: 'boolean', description: describe }
        : { type: 'string', description: describe, valueHint: value };
  }
  return args;
}

async function carryOut(
  definition: Definition,
  positionals: readonly Positional[],
  options: Readonly<Record<string, Option>>,
  rawArgs: string[],
): Promise<number> {
  endQuietlyWithReader();
  const interruption = listenForInterruption();
  try {
    const parsed = parse(rawArgs, options);
    checkPositionals(definition.name, positionals, parsed.positionals);
    const values = (name: string) => [parsed.values[name] ?? []].flat().map(String);
    const call: Call = {
      client: connect({ url: values('url').at(-1), token: values('token').at(-1) }),
      signal: interruption.signal,
      positionals: parsed.positionals,
      option: (name) => values(name).at(-1),
      options: values,
      has: (name) => parsed.values[name] !== undefined,
      print: (text) => void process.stdout.write(`${text}\n`),
    };
    return await definition.run(call);
  } catch (error) {
    if (interruption.signal.aborted && error === interruption.signal.reason) {
      console.error('Interrupted.');
      return interruption.exitCode();
    }
    console.error(describe(error));
    return error instanceof MillrunError && error.run?.status === 'failed' ? exitCodes.runFailed : exitCodes.refused;
  } finally {
    interruption.stop();
  }
}

interface Parsed {
  positionals: string[];
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
}

function parse(args: string[], options: Readonly<Record<string, Option>>): Parsed {
  const config: ParseArgsOptionsConfig = {};
  for (const [name, { value, multiple = false }] of Object.entries(options)) {
    config[name] = { type: value === undefined ? 'boolean' : 'string', multiple };
  }
  try {
    return parseArgs({ args, options: config, allowPositionals: true });
  } catch (error) {
    // The framework's message goes on with advice; its first sentence says it.
    const [sentence = ''] = (error instanceof Error ? error.message : String(error)).split(/\. |\n/);
    throw new Refusal(`${sentence.replace(/\.$/, '')}.`);
  }
}

function checkPositionals(command: string, known: readonly Positional[], given: readonly string[]): void {
  const missing = known.find(({ required }, index) => required === true && given[index] === undefined);
  if (missing !== undefined)
    throw new Refusal(`${missing.name.toUpperCase()} is missing; see: millrun ${command} --help`);
  const extra = given[known.length];
  if (extra !== undefined && known.at(-1)?.many !== true)
    throw new Refusal(`"${extra}" is too much; see: millrun ${command} --help`);
}

/** Everything that can go wrong, in one sentence; what is left is a mistake of ours and shows where. */
function describe(error: unknown): string {
  if (error instanceof Refusal) return printable(error.message);
  if (!(error instanceof MillrunError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const fields = Object.entries(error.errors).map(([field, problems]) => `${field} ${problems.join(', ')}`);
  return printable(fields.length === 0 ? error.message : fields.join('; ').replace(/(?<![.?])$/, '.'));
}

interface Interruption {
  signal: AbortSignal;
  /** 130 after Ctrl-C, as shells have it. */
  exitCode(): number;
  stop(): void;
}

/** One Ctrl-C may arrive several times: from the terminal, and from npx and the launcher, which pass it on. */
const sameSignalMs = 1000;
const signalNumbers = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;

/** The first signal ends what is under way in good order; a second one, later, at once. */
function listenForInterruption(): Interruption {
  const controller = new AbortController();
  let askedAt: number | undefined;
  let exitCode = 0;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (askedAt !== undefined && now - askedAt > sameSignalMs) process.exit(exitCode);
    askedAt ??= now;
    exitCode = 128 + signalNumbers[signal as keyof typeof signalNumbers];
    controller.abort(new Error(`interrupted by ${signal}`));
  };
  const signals = Object.keys(signalNumbers) as (keyof typeof signalNumbers)[];
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    stop: () => {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

/** `millrun runs | head` has read enough: that is no error. */
function endQuietlyWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(exitCodes.done);
  });
}
