import type { Tool } from '../types.ts';
import { clientCommand, exitCodes } from './command.ts';
import { formatJson, formatTable, printable } from './text.ts';

export default clientCommand({
  name: 'tools',
  describe: 'List the tools, or show the settings of one',
  positionals: [{ name: 'query', describe: 'A slug shows that tool; other text searches names and descriptions' }],
  options: { category: { describe: 'Only those of this category', value: 'category' } },
  async run({ client, positionals, signal, option, has, print }) {
    const [query] = positionals;
    const tools = await client.tools({ query, category: option('category'), signal });
    const exact = tools.find(({ slug }) => slug === query);
    if (has('json')) print(formatJson(exact ?? tools));
    else if (exact !== undefined) print(describe(exact));
    else if (tools.length === 0) console.error('There is no such tool.');
    else print(formatTable([['SLUG', 'CATEGORY', 'WHAT IT DOES'], ...tools.map(rowOf)]));
    return tools.length === 0 ? exitCodes.refused : exitCodes.done;
  },
});

function rowOf({ slug, category, description, available }: Tool): string[] {
  return [slug, category, available ? description : `Not available here: ${description}`].map(printable);
}

function describe(tool: Tool): string {
  const { slug, name, description, min_files: min, max_files: max, available, unavailable_reason: reason } = tool;
  const count = min === max ? `${min}` : `${min} to ${max}`;
  const files = max === 0 ? 'none' : `${count}, ${extensionsOf(tool.accepts)}`;
  const lines = [`${name} (${slug})`, description, `Files: ${files}. Makes ${extensionsOf(tool.produces)}.`];
  if (!available) lines.push(`Not available: ${reason ?? 'an engine is missing.'}`);
  return [...lines.map(printable), '', formatTable(settingRows(tool))].join('\n');
}

function extensionsOf(types: Tool['accepts']): string {
  return types === 'any' ? 'any type' : types.extensions.map((extension) => extension.replace(/^\./, '')).join(', ');
}

/** What is shown of the JSON Schema of one setting. */
interface SettingSchema {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  default?: unknown;
  description?: string;
}

function settingRows({ settings }: Tool): string[][] {
  const { properties = {}, required = [] } = settings as {
    properties?: Record<string, SettingSchema>;
    required?: string[];
  };
  const rows = Object.entries(properties).map(([name, schema]) => {
    const standard = required.includes(name) ? 'required' : schema.default === undefined ? '' : String(schema.default);
    return [name, valuesOf(schema), standard, schema.description ?? ''].map(printable);
  });
  return [['SETTING', 'VALUES', 'DEFAULT', 'MEANING'], ...rows];
}

function valuesOf({ type = '', enum: values, minimum, maximum }: SettingSchema): string {
  if (values !== undefined) return values.join(', ');
  return minimum === undefined && maximum === undefined ? type : `${type} ${minimum ?? ''}..${maximum ?? ''}`;
}
