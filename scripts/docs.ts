/**
 * Writes the documents that are made from the code: `docs/configuration.md` and `docs/tools.md`. With `--check` writes
 * nothing and exits 1 when one of them is behind.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { variables } from '../server/src/config.ts';
import { fileTypes, type FileTypeId } from '../server/src/lib/media-types.ts';
import type { Engine } from '../server/src/engines/engine.ts';
import type { Tool } from '../server/src/tools/define.ts';
import { allEngines, tools } from '../server/src/tools/registry.ts';

const notice = '<!-- Made by `npm run docs`; do not edit by hand. -->\n\n';

function table(header: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

function configuration(): string {
  const rows = Object.entries(variables).map(([name, { describe, shown }]) => [`\`${name}\``, shown, describe]);
  const text =
    'Everything is optional. All variables that cannot be used are reported at once, each by its name, and the service does not start.';
  return `${notice}# Configuration\n\n${text}\n\n${table(['Variable', 'Default', 'What it does'], rows)}\n`;
}

function names(types: readonly FileTypeId[] | 'any'): string {
  return types === 'any' ? 'any file' : types.map((type) => fileTypes[type].extensions[0]).join(', ');
}

function settingRow(name: string, schema: Record<string, unknown>, required: boolean): string[] {
  const { enum: values, minimum, maximum, type, description } = schema;
  const range =
    minimum !== undefined || maximum !== undefined ? ` ${String(minimum ?? '')}–${String(maximum ?? '')}` : '';
  const kind = Array.isArray(values) ? values.join(', ') : `${String(type)}${range}`;
  const standard = required ? 'required' : schema['default'] === undefined ? '' : String(schema['default']);
  return [`\`${name}\``, kind, standard, String(description)];
}

function describeTool(tool: Tool): string {
  const { min, max } = tool.files;
  const files = min === max ? `${min}` : `${min} to ${max}`;
  const settings = Object.entries(tool.settings).map(([name, { schema, required }]) =>
    settingRow(name, schema, required),
  );
  const facts = `Takes ${max === 0 ? 'no files' : names(tool.accepts)}; makes ${names(tool.produces)}. Files a run: ${files}. At most ${tool.timeoutSeconds} s.`;
  const engines = `Engines: ${tool.engines.map(({ name }) => name).join(', ')}${optional(tool.optionalEngines)}.`;
  return `## \`${tool.slug}\`\n\n${tool.description}\n\n${facts}\n${engines}\n\n${table(['Setting', 'Values', 'Default', 'Meaning'], settings)}\n`;
}

function optional(engines: readonly Engine[] | undefined): string {
  return engines === undefined ? '' : `; for some settings or files ${engines.map(({ name }) => name).join(', ')}`;
}

function toolsPage(): string {
  const engines = allEngines().map(({ name, license, install }) => [
    name,
    license,
    install === undefined ? 'comes with npm' : `\`${install}\``,
  ]);
  const engineTable = table(['Engine', 'Licence', 'Install'], engines);
  return `${notice}# Tools\n\n${tools.map(describeTool).join('\n')}\n## Engines\n\n${engineTable}\n`;
}

const documents: Record<string, string> = { 'docs/configuration.md': configuration(), 'docs/tools.md': toolsPage() };
const check = process.argv.includes('--check');
let behind = 0;
for (const [path, text] of Object.entries(documents)) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  behind += 1;
  if (check) console.error(`${path} is behind: run npm run docs`);
  else writeFileSync(path, text);
}
console.log(check ? `${Object.keys(documents).length} documents, ${behind} behind` : `${behind} documents written`);
process.exit(check && behind > 0 ? 1 : 0);
