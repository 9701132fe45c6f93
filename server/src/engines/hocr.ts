export interface HocrPage {
  /** What Tesseract wrote for one picture. */
  hocr: string;
  /** Pixels of that picture for one of the original. */
  scale: number;
}

/**
 * One hOCR document of several pages, with places in pixels of the original picture and its given name instead of the
 * path that Tesseract read.
 */
export function createHocr(pages: readonly HocrPage[], filename: string): string {
  const bodies = pages.map((page, index) => pageElement(page, index, filename));
  const [first] = pages;
  const [head = ''] = first?.hocr.split(/(?<=<body>)/) ?? [];
  return `${head}\n${bodies.join('\n')}\n </body>\n</html>\n`;
}

function pageElement({ hocr, scale }: HocrPage, index: number, filename: string): string {
  const start = hocr.indexOf('<body>') + '<body>'.length;
  const body = hocr.slice(start, hocr.lastIndexOf('</body>')).trim();
  return body
    .replaceAll(/ id='(page|block|par|line|word)_\d+/g, (_, kind: string) => ` id='${kind}_${index + 1}`)
    .replace(/image "[^"]*"/, () => `image "${escapeTitle(filename)}"`)
    .replace(/ppageno \d+/, `ppageno ${index}`)
    .replace(/; scan_res \d+ \d+/, '')
    .replaceAll(/(bbox|x_size|x_descenders|x_ascenders) ([\d. ]*\d)/g, (_, name: string, numbers: string) => {
      const scaled = numbers.split(' ').map((number) => Number(number) / scale);
      return `${name} ${scaled.map((number) => (name === 'bbox' ? Math.round(number) : number.toFixed(2))).join(' ')}`;
    })
    .replaceAll(/baseline (-?[\d.]+) (-?[\d.]+)/g, (_, slope: string, offset: string) => {
      return `baseline ${slope} ${Math.round(Number(offset) / scale)}`;
    });
}

/** Within a title in single quotes, whose own strings are in double quotes. */
function escapeTitle(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '_')
    .replaceAll("'", '&#39;');
}
