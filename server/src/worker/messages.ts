import type { FailureCode } from '../lib/failure.ts';
import type { InputFacts } from '../tools/define.ts';

/** What a worker tells a tool host over IPC. */
export interface RunOrder {
  kind: 'run';
  tool: string;
  form: Record<string, string>;
  inputs: (InputFacts & { path: string })[];
  outputDirectory: string;
  scratch: string;
}

/** Starts an engine that takes long to start, ahead of the first run that needs it. */
export interface WarmOrder {
  kind: 'warm';
  engine: string;
}

export type Order = RunOrder | CleanOrder | WarmOrder;

/** Removes what a run left in the host's own directory. Done inside, where a link that was planted leads nowhere. */
export interface CleanOrder {
  kind: 'clean';
  directory: string;
}

/** What a tool host tells its worker. The worker believes none of it without a look: the host runs hostile files. */
export type HostMessage =
  | { kind: 'ready' }
  | { kind: 'cleaned' }
  | { kind: 'progress'; percent: number }
  | { kind: 'log'; message: string }
  | { kind: 'done'; outputs: { path: string; filename: string }[]; memoryBytes: number }
  | { kind: 'failed'; code: FailureCode; message: string; file?: string; log?: string; memoryBytes: number };
