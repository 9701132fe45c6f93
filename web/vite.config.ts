import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The placeholder that the server replaces in each reply (`server/src/http/routes/page.ts`). */
const noncePlaceholder = 'CSP_NONCE';

export default defineConfig({
  plugins: [react()],
  html: { cspNonce: noncePlaceholder },
  build: {
    // The policy allows no `data:` fonts or scripts, and a small file costs one request of a kept connection.
    assetsInlineLimit: 0,
    target: 'es2023',
    // Browsers that know `light-dark()`: rewritten for older ones it needs a `color-scheme` rule that Mantine does not have.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    reportCompressedSize: false,
  },
  server: {
    // `npx vite` in this directory, beside a server on its usual port.
    proxy: Object.fromEntries(
      ['/api', '/account', '/docs'].map((path) => [path, process.env['MILLRUN_ORIGIN'] ?? 'http://127.0.0.1:8080']),
    ),
  },
});
