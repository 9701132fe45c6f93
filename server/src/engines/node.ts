import type { Engine } from './engine.ts';

/** What the runtime itself does: hashing, Base64, gzip and Brotli. */
export const node: Engine = {
  id: 'node',
  name: 'Node.js',
  license: 'MIT',
  version: async () => process.versions.node,
};
