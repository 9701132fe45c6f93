import type { Config } from '../config.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { tools } from '../tools/registry.ts';

interface Started {
  role: string;
  address: string | undefined;
  /** Makes the first person; absent once there is somebody. */
  firstLink: string | undefined;
  config: Config;
  sandbox: Sandbox | undefined;
  engines: Record<string, string> | undefined;
}

/** What a newcomer needs to know, on standard output. */
export function greet({ role, address, firstLink, config, sandbox, engines }: Started): void {
  const lines: string[] = [];
  const line = (label: string, text: string) => lines.push(`  ${label.padEnd(9)} ${text}`);
  lines.push(address === undefined ? `Millrun ${role} is running` : `Millrun is running on ${address}`);
  if (address !== undefined) {
    line('API', `${address}/api/v2, described at ${address}/docs`);
    if (firstLink !== undefined) {
      line('Sign in', firstLink);
      line('', 'This link works once, within a day, and makes you the administrator.');
    }
    line('Token', 'npx millrun token create --email you@example.com --plan unlimited');
  }
  line('Data', config.dataDirectory);
  if (sandbox !== undefined) line('Sandbox', sandbox.detail);
  if (engines !== undefined) for (const text of missingLines(engines)) line('Missing', text);
  line('Stop', 'Ctrl-C');
  if (sandbox?.level === 'none') lines.push('', ...noSandboxBanner);
  console.log(`\n${lines.join('\n')}\n`);
}

function missingLines(installed: Record<string, string>): string[] {
  const missing = new Map<string, { install: string; slugs: string[] }>();
  for (const tool of tools) {
    for (const engine of [...tool.engines, ...(tool.optionalEngines ?? [])]) {
      if (Object.hasOwn(installed, engine.id)) continue;
      const entry = missing.get(engine.name) ?? { install: engine.install ?? '', slugs: [] };
      entry.slugs.push(tool.slug);
      missing.set(engine.name, entry);
    }
  }
  return [...missing].map(([name, { install, slugs }]) => `${name}, for ${slugs.join(', ')}: ${install}`);
}

const noSandboxBanner = [
  '  ****************************************************************************',
  '  *  NO SANDBOX. Engines can read what this user can read. Process only      *',
  '  *  files you trust, and install bubblewrap: apt-get install -y bubblewrap  *',
  '  ****************************************************************************',
];
