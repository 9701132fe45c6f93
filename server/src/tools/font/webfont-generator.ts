import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeZip, yazl } from '../../engines/archives.ts';
import { convertFont, fontverter, openFont, type OpenFont } from '../../engines/fonts/font-file.ts';
import { describeFont, fontkit } from '../../engines/fonts/inspect.ts';
import { harfbuzz, parseUnicodes, subsetFont } from '../../engines/fonts/subset.ts';
import { webfontCss } from '../../engines/fonts/web-page.ts';
import { defineTool, type InputFile, type ToolContext } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { choice, text, type Values } from '../settings.ts';

const settings = {
  subset: choice({
    of: ['latin', 'all'],
    default: 'latin',
    describe: 'latin: what Western European languages need, small; all: every glyph.',
  }),
  css_name: text({
    max: 60,
    pattern: /^[A-Za-z0-9][A-Za-z0-9 _-]*$/,
    patternHint: 'must be letters, digits, spaces, - and _',
    describe: "The font-family in the style sheet; without it the font's own name.",
  }),
};

export default defineTool({
  slug: 'webfont-generator',
  name: 'Webfont Generator',
  category: 'font',
  description: 'Packs a font for a website: WOFF2, WOFF, the style sheet and a page to try it.',
  accepts: ['ttf', 'otf', 'woff', 'woff2'],
  produces: ['zip'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [harfbuzz, fontverter, fontkit, yazl],
  settings,
  run: (context) => eachInput(context, (input) => pack(input, context)),
});

async function pack(input: InputFile, context: ToolContext<Values<typeof settings>>): Promise<void> {
  const { subset, css_name } = context.settings;
  const opened = await openFont(input, context);
  const family = css_name ?? (await describeFont(opened)).family ?? input.stem;
  const name = family.replaceAll(/[^A-Za-z0-9]+/g, '-').replaceAll(/^-|-$/g, '') || 'font';
  const files = { ...(await webFiles(await cut(opened, subset), name, context)), ...webfontCss(family, name) };
  const entries = [];
  for (const [entry, content] of Object.entries(files)) {
    const path = join(context.scratch, `entry-${entries.length}`);
    await writeFile(path, content);
    entries.push({ name: entry, path, sizeBytes: Buffer.byteLength(content) });
  }
  const target = context.output(`${input.stem}-webfont.zip`);
  await writeZip(target, entries, { level: 6, signal: context.signal, onBytes: () => undefined });
}

function cut(font: OpenFont, subset: 'latin' | 'all'): Promise<OpenFont> {
  return subset === 'all'
    ? Promise.resolve(font)
    : subsetFont(font, { characters: parseUnicodes('latin'), keepHinting: true });
}

async function webFiles(font: OpenFont, name: string, context: ToolContext<unknown>): Promise<Record<string, Buffer>> {
  return {
    [`${name}.woff2`]: await convertFont(font, 'woff2', context),
    [`${name}.woff`]: await convertFont(font, 'woff', context),
  };
}
