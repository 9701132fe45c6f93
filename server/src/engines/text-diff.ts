import type { StructuredPatch } from 'diff';
import { escapeHtml } from '../lib/escape-html.ts';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const jsdiff: Engine = {
  id: 'diff',
  name: 'jsdiff',
  license: 'BSD-3-Clause',
  version: () => packageVersion('diff'),
};

/** Beyond this, in milliseconds, two texts have so little in common that a list of differences helps nobody. */
const longestComparison = 60_000;

export interface DiffSide {
  filename: string;
  text: string;
}

/** What has to be changed, line by line, to make the second text of the first. */
export interface TextDiff {
  patch: StructuredPatch;
  added: number;
  removed: number;
}

/**
 * Compares two texts line by line (Myers' algorithm, three lines of context).
 *
 * @throws Failure `resource_limit` when they differ in more than can be compared in a minute.
 */
export async function diffTexts(
  before: DiffSide,
  after: DiffSide,
  { ignoreWhitespace }: { ignoreWhitespace: boolean },
): Promise<TextDiff> {
  const { structuredPatch } = await import('diff');
  const patch = structuredPatch(before.filename, after.filename, before.text, after.text, undefined, undefined, {
    context: 3,
    ...(ignoreWhitespace ? { comparator: differInSpaceOnly } : {}),
    timeout: longestComparison,
  });
  if (patch === undefined) throw new Failure('resource_limit', 'The two files differ in too much to be compared.');
  const lines = patch.hunks.flatMap((hunk) => hunk.lines);
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length;
  return { patch, added: count('+'), removed: count('-') };
}

/** As `diff -w` compares lines. */
function differInSpaceOnly(left: string, right: string): boolean {
  return left.replaceAll(/\s+/g, '') === right.replaceAll(/\s+/g, '');
}

/** As `diff -u` writes it and `patch` reads it. */
export async function formatUnified({ patch }: TextDiff): Promise<string> {
  const { formatPatch, FILE_HEADERS_ONLY } = await import('diff');
  return formatPatch(patch, FILE_HEADERS_ONLY);
}

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<style>
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; font: 13px/1.5 ui-monospace, monospace; width: 100%; }
td { padding: 0 .6em; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; }
td.n { color: #6b7280; text-align: right; user-select: none; width: 1%; white-space: nowrap; }
tr.a { background: light-dark(#dafbe1, #12361f); }
tr.r { background: light-dark(#ffebe9, #45191c); }
tr.h td { background: light-dark(#eef2ff, #1e2238); color: #6b7280; padding-block: .3em; }
</style>`;

/** A page that shows the differences; it needs nothing else. */
export function formatHtml({ patch, added, removed }: TextDiff): string {
  const names = `${escapeHtml(patch.oldFileName ?? '')} → ${escapeHtml(patch.newFileName ?? '')}`;
  const summary = added + removed === 0 ? 'No differences.' : `${added} lines added, ${removed} removed.`;
  const rows = patch.hunks.flatMap((hunk) => {
    let [before, after] = [hunk.oldStart, hunk.newStart];
    const head = `<tr class="h"><td colspan="4">@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@</td></tr>`;
    const lines = hunk.lines.map((line) => {
      const mark = line[0] ?? ' ';
      const [left, right] = [mark === '+' ? '' : String(before), mark === '-' ? '' : String(after)];
      if (mark === ' ' || mark === '-') before++;
      if (mark === ' ' || mark === '+') after++;
      const kind = mark === '+' ? ' class="a"' : mark === '-' ? ' class="r"' : '';
      return `<tr${kind}><td class="n">${left}</td><td class="n">${right}</td><td class="n">${mark}</td><td>${escapeHtml(line.slice(1))}</td></tr>`;
    });
    return [head, ...lines];
  });
  return `${page}\n<title>${names}</title>\n<h1>${names}</h1>\n<p>${summary}</p>\n<table>\n${rows.join('\n')}\n</table>\n</html>\n`;
}
