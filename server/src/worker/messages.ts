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

/** What a tool host tells its worker. The worker believes none of it without a look: the host runs hostile files. */
export type HostMessage =
  | { kind: 'ready' }
  | { kind: 'progress'; percent: number }
  | { kind: 'log'; message: string }
  | { kind: 'done'; outputs: { path: string; filename: string }[]; memoryBytes: number }
  | { kind: 'failed'; code: FailureCode; message: string; file?: string; log?: string; memoryBytes: number };
