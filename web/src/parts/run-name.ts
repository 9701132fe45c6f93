import type { Run } from '@millrun/sdk';

/** What a person calls a run: `PDF Merger, a.pdf and 2 more`. */
export function runName(run: Pick<Run, 'tool' | 'inputs'>, toolName: (slug: string) => string): string {
  const [first, ...more] = run.inputs;
  const tool = toolName(run.tool);
  if (first === undefined) return tool;
  return more.length === 0 ? `${tool}, ${first.filename}` : `${tool}, ${first.filename} and ${more.length} more`;
}
