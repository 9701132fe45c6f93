import type { WebHeader } from '../engines/web-access.ts';
import type { FailureCode } from '../lib/failure.ts';
import type { Category, InputFacts } from '../tools/define.ts';

/** What a worker tells a tool host over IPC. */
export interface RunOrder {
  kind: 'run';
  tool: string;
  category: Category;
  form: Record<string, string>;
  inputs: (InputFacts & { path: string })[];
  outputDirectory: string;
  scratch: string;
  /** Where bodies of fetched files appear, inside. */
  fetched: string;
}

/** Starts an engine that takes long to start, ahead of the first run that needs it. */
export interface WarmOrder {
  kind: 'warm';
  engine: string;
}

export type Order = RunOrder | CleanOrder | WarmOrder | FetchReply;

/** Removes what a run left in the host's own directory. Done inside, where a link that was planted leads nowhere. */
export interface CleanOrder {
  kind: 'clean';
  directory: string;
}

/** A file of the web that a run wants; `body` is base64. */
export interface FetchRequest {
  url: string;
  method: string;
  headers: Record<string, string>;
  body?: string;
}

/** `file`: the name of the file its decoded body is in, where the order said; `error`: a sentence for the owner. */
export type FetchAnswer = { status: number; headers: WebHeader[]; file: string } | { error: string };

export interface FetchReply {
  kind: 'fetched';
  id: number;
  answer: FetchAnswer;
}

/** What a tool host tells its worker. The worker believes none of it without a look: the host runs hostile files. */
export type HostMessage =
  | { kind: 'ready' }
  | { kind: 'cleaned' }
  | { kind: 'progress'; percent: number }
  | { kind: 'log'; message: string }
  /** Answered by `FetchReply` with the same `id`. */
  | { kind: 'fetch'; id: number; request: FetchRequest }
  | { kind: 'done'; outputs: { path: string; filename: string }[]; memoryBytes: number }
  | { kind: 'failed'; code: FailureCode; message: string; file?: string; log?: string; memoryBytes: number };
