/** An A4 page at 96 pixels an inch, with the type of a listing. */
const page = { width: 794, height: 1123, margin: 56, fontSize: 14, lineHeight: 19 };
const charactersPerLine = 80;
const linesPerPage = Math.floor((page.height - 2 * page.margin) / page.lineHeight);

/** The beginning of a text as a drawing of a page; long lines are broken. */
export function drawTextPage(text: string): string {
  const lines = text
    .split(/\r\n|\n|\r/)
    .flatMap(broken)
    .slice(0, linesPerPage);
  const drawn = lines.map((line, index) => {
    const y = page.margin + (index + 1) * page.lineHeight;
    return `<text x="${page.margin}" y="${y}" xml:space="preserve">${escape(line)}</text>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${page.width}" height="${page.height}">` +
    `<rect width="100%" height="100%" fill="#ffffff"/>` +
    `<g font-family="DejaVu Sans Mono, monospace" font-size="${page.fontSize}" fill="#1f2328">${drawn.join('')}</g></svg>\n`
  );
}

function broken(line: string): string[] {
  const characters = [...line.replaceAll('\t', '    ')].slice(0, charactersPerLine * linesPerPage);
  const pieces: string[] = [];
  for (let at = 0; at < characters.length || at === 0; at += charactersPerLine) {
    pieces.push(characters.slice(at, at + charactersPerLine).join(''));
  }
  return pieces;
}

/** Also without the control characters that XML has no place for. */
function escape(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
      .replaceAll(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
  );
}
