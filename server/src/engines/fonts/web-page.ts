/** The style sheet of a web font and a page that shows it, by file name. `family` and `name` hold no quotes or markup. */
export function webfontCss(family: string, name: string): Record<string, string> {
  const safeFamily = family.replaceAll(/["\\<>&\n\r]/g, ' ').trim();
  const css = `@font-face {
  font-family: "${safeFamily}";
  src:
    url("${name}.woff2") format("woff2"),
    url("${name}.woff") format("woff");
  font-display: swap;
}
`;
  const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${safeFamily}</title>
<link rel="stylesheet" href="${name}.css">
<style>
body { font-family: "${safeFamily}", sans-serif; margin: 3rem; line-height: 1.4; }
p { margin: 0 0 1rem; }
</style>
${[16, 24, 36, 56].map((size) => `<p style="font-size: ${size}px">The quick brown fox jumps over the lazy dog. 0123456789</p>`).join('\n')}
</html>
`;
  return { [`${name}.css`]: css, 'index.html': page };
}
