/* Draws the reference. A file of its own, because the policy of the page allows no script inside it. */

/** Where the account page keeps the theme that the person chose (`auto` or nothing: as the system has it). */
const chosen = localStorage.getItem('mantine-color-scheme-value');
const dark = chosen === 'dark' || (chosen !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);

globalThis.Scalar.createApiReference('#reference', {
  url: '/api/v2/openapi.json',
  forceDarkModeState: dark ? 'dark' : 'light',
  hideDarkModeToggle: true,
  authentication: { preferredSecurityScheme: 'token' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Works without internet: no fonts, figures or buttons of the vendor's services.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
});

// The library gives its copy buttons no name, and draws more of them as the page is read.
new MutationObserver(() => {
  for (const button of document.querySelectorAll('button.scalar-code-copy:not([aria-label])'))
    button.setAttribute('aria-label', 'Copy');
}).observe(document.body, { childList: true, subtree: true });
