import type { SubCommandsDef } from 'citty';

/** The commands of a client, to be made part of a program. Each is loaded when it is called. */
export const clientCommands: SubCommandsDef = {
  run: async () => (await import('./run.ts')).default,
  tools: async () => (await import('./tools.ts')).default,
  runs: async () => (await import('./runs.ts')).default,
  get: async () => (await import('./get.ts')).default,
  cancel: async () => (await import('./cancel.ts')).default,
};
