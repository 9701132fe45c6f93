import type { Engine } from '../engines/engine.ts';
import type { WebFetch } from '../engines/web-access.ts';
import type { FieldErrors } from '../lib/errors.ts';
import type { FileTypeId } from '../lib/media-types.ts';
import type { Fields, Values } from './settings.ts';

export const categories = [
  'image',
  'pdf',
  'document',
  'video',
  'audio',
  'archive',
  'data',
  'text',
  'ocr',
  'font',
  'ebook',
  'subtitle',
  'utility',
] as const;
export type Category = (typeof categories)[number];

/** What is known of an input when a submission is judged: nothing has been decoded yet. */
export interface InputFacts {
  /** The given name, cleaned: data, never a path. */
  filename: string;
  /** The format it is read as: what its content shows, and for text and the like the accepted one its name says. */
  type: FileTypeId;
  sizeBytes: number;
}

/** One input of a running tool. */
export interface InputFile extends InputFacts {
  /** Where it can be read; the name on disk is generated. Read-only. */
  path: string;
  /** The given name without its extension: outputs are named after it. */
  stem: string;
}

/** Everything a tool may touch while it runs. No database, no store, no run id. */
export interface ToolContext<Settings> {
  /** In the order they were sent, duplicates kept. */
  readonly inputs: readonly InputFile[];
  readonly settings: Settings;
  /**
   * Announces an output and returns the path to write it to. Names that clash get `-1`, `-2`, …; a name is only ever
   * data, the path is generated. An announced output that is missing, empty or not of a `produces` type fails the run.
   */
  output(filename: string): string;
  /** A private scratch directory, gone when the run ends. */
  readonly scratch: string;
  /** 0 to 100; never goes down, sent on at most every 200 ms. */
  progress(percent: number): void;
  /** Aborted on cancel and at the deadline. The sandbox is killed as well; this only ends work earlier. */
  readonly signal: AbortSignal;
  /** Fetches a file of the web, for tools with `network: true`; for others, and where the operator says so, it throws. */
  readonly fetch: WebFetch;
  /** A line for the operator's log. */
  log(message: string): void;
}

/** A tool: data that everybody reads, and one function. */
export interface Tool<F extends Fields = Fields> {
  /** The path segment of `POST /tools/{slug}`. */
  slug: string;
  name: string;
  category: Category;
  /** One sentence: what somebody gets from it. */
  description: string;
  /** Formats it reads, judged by content, and by name where content cannot tell; `any` takes every file. */
  accepts: readonly FileTypeId[] | 'any';
  /** Formats it may write; every output is checked against them. `any` for a tool that returns files as they are. */
  produces: readonly FileTypeId[] | 'any';
  files: { min: number; max: number };
  /** The wall limit of a run, in seconds; the sandbox is killed at it. */
  timeoutSeconds: number;
  /** Engines without which the tool is not offered. */
  engines: readonly Engine[];
  /** It may fetch from the web, by way of the worker: the sandbox itself has no network. */
  network?: true;
  /** Further engines that only some settings or inputs need: everything `enginesFor` may name. */
  optionalEngines?: readonly Engine[];
  /** Which of them a submission needs; a missing one is 503 `tool_unavailable` for that submission. */
  enginesFor?(settings: Values<F>, inputs: readonly InputFacts[]): readonly Engine[];
  settings: F;
  /** Rules across settings and inputs that a single field cannot judge. */
  check?(settings: Values<F>, inputs: readonly InputFacts[]): FieldErrors;
  run(context: ToolContext<Values<F>>): Promise<void>;
}

/** Ties the type of `run`'s settings to the fields above it. */
export function defineTool<F extends Fields>(tool: Tool<F>): Tool<F> {
  return tool;
}
