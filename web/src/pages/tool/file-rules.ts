import type { Tool, Usage } from '@millrun/sdk';
import { extensionOf } from '../../parts/file-kind.ts';
import { formatBytes, formatNumber } from '../../parts/format.ts';

/** A file that was chosen; the same one may be there twice, so it has an id of its own. */
export interface PickedFile {
  id: string;
  file: File;
}

export interface FileVerdict {
  /** The service refuses an error for certain; a warning is only likely. */
  level: 'error' | 'warning';
  text: string;
}

export type FileLimits = Usage['limits'];
type FileRules = Pick<Tool, 'name' | 'accepts' | 'min_files' | 'max_files'>;
type Facts = Pick<File, 'name' | 'size' | 'type'>;

/** What can be said of a file by its name and size alone. The service looks at its content, and has the last word. */
export function judgeFile(
  { name, accepts }: FileRules,
  limits: FileLimits | undefined,
  file: Facts,
): FileVerdict | undefined {
  if (file.size === 0) return { level: 'error', text: 'This file is empty.' };
  const most = limits?.max_file_bytes ?? 0;
  if (most > 0 && file.size > most)
    return { level: 'error', text: `This file is larger than the ${formatBytes(most)} that your plan allows.` };
  if (looksAccepted(accepts, file)) return undefined;
  return { level: 'warning', text: `By its name this is no file for ${name}. The service looks at what is in it.` };
}

function looksAccepted(accepts: Tool['accepts'], { name, type }: Facts): boolean {
  if (accepts === 'any') return true;
  const extension = extensionOf(name);
  if (accepts.extensions.includes(extension)) return true;
  if (accepts.media_types.includes(type.toLowerCase())) return true;
  return extension === '' && type === '';
}

/** What is wrong with the files as a whole. */
export function judgeFiles(
  tool: FileRules,
  limits: FileLimits | undefined,
  files: readonly Facts[],
): string | undefined {
  const { name, min_files: fewest } = tool;
  if (files.length < fewest) {
    if (fewest === 1) return 'Add a file first.';
    return files.length === 0 ? `Add at least ${fewest} files first.` : `${name} needs at least ${fewest} files.`;
  }
  const most = mostFiles(tool, limits);
  if (files.length > tool.max_files) return `${name} takes at most ${sayFiles(tool.max_files)}.`;
  if (files.length > most) return `Your plan allows at most ${sayFiles(most)} a run.`;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const mostBytes = limits?.max_run_bytes ?? 0;
  if (mostBytes === 0 || bytes <= mostBytes) return undefined;
  return `The files have ${formatBytes(bytes)} together; your plan allows ${formatBytes(mostBytes)} a run.`;
}

/** How many files a run may have, by the tool and by the plan. */
export function mostFiles({ max_files: ofTool }: FileRules, limits: FileLimits | undefined): number {
  const ofPlan = limits?.max_files ?? 0;
  return ofPlan === 0 ? ofTool : Math.min(ofTool, ofPlan);
}

export function sayFiles(count: number): string {
  return `${formatNumber(count)} ${count === 1 ? 'file' : 'files'}`;
}

/** The same format under other names: one of them is enough to read. */
const aliases = new Set([
  'jpeg',
  'jpe',
  'jfif',
  'apng',
  'heif',
  'tif',
  'tab',
  'text',
  'htm',
  'jsonl',
  'tgz',
  'txz',
  'yml',
  'oga',
  'mpeg',
]);

/** Extensions to show to people: `JPG`, `PNG`, … */
export function formatsOf(accepts: Tool['accepts']): string[] {
  if (accepts === 'any') return [];
  const shown = accepts.extensions.filter((extension) => !aliases.has(extension));
  return (shown.length > 0 ? shown : accepts.extensions).map((extension) => extension.toUpperCase());
}

/** The `accept` of a file dialog, which offers these first and lets people choose others. */
export function dialogAccept(accepts: Tool['accepts']): string | undefined {
  return accepts === 'any' ? undefined : accepts.extensions.map((extension) => `.${extension}`).join(',');
}
