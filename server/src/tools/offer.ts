import type { Tool as WireTool } from '@millrun/sdk';
import type { Engine } from '../engines/engine.ts';
import { fileTypes, type FileTypeId } from '../lib/media-types.ts';
import type { Tool } from './define.ts';
import { formSchema } from './settings.ts';

/** What the machines that execute runs can do. */
export interface Capabilities {
  /** Ids of the engines that are installed. */
  engines: ReadonlySet<string>;
  sandboxed: boolean;
  /** False while no worker has reported: nothing can be promised. */
  known: boolean;
}

/** Why a tool is not offered here, with the exact mend; undefined when it is. */
export function unavailableReason(tool: Tool, capabilities: Capabilities): string | undefined {
  if (!capabilities.known) return 'No worker has connected yet; start one with: millrun worker';
  return unusableEngines(tool.engines, capabilities);
}

/** What keeps engines from being used here, and the line that mends it; undefined when all can be. */
export function unusableEngines(engines: readonly Engine[], capabilities: Capabilities): string | undefined {
  const missing = engines.filter(({ id }) => !capabilities.engines.has(id));
  if (missing.length > 0) return missing.map(installLine).join('. ');
  const needsSandbox = engines.find(({ interpretsPrograms }) => interpretsPrograms === true);
  if (needsSandbox === undefined || capabilities.sandboxed) return undefined;
  return `${needsSandbox.name} interprets programs in files and no sandbox works here; install one with: apt-get install -y bubblewrap`;
}

function installLine({ name, install }: Engine): string {
  return install === undefined ? `${name} is missing` : `${name} is missing; install it with: ${install}`;
}

export function viewTool(tool: Tool, capabilities: Capabilities): WireTool {
  const reason = unavailableReason(tool, capabilities);
  return {
    slug: tool.slug,
    name: tool.name,
    category: tool.category,
    description: tool.description,
    accepts: viewTypes(tool.accepts),
    produces: viewTypes(tool.produces),
    min_files: tool.files.min,
    max_files: tool.files.max,
    settings: formSchema(tool.settings),
    available: reason === undefined,
    ...(reason === undefined ? {} : { unavailable_reason: reason }),
  };
}

function viewTypes(types: readonly FileTypeId[] | 'any'): WireTool['accepts'] {
  if (types === 'any') return 'any';
  return {
    media_types: types.map((type) => fileTypes[type].mediaType),
    extensions: [...new Set(types.flatMap((type) => [...fileTypes[type].extensions]))],
  };
}
