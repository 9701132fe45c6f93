import { Failure } from '../lib/failure.ts';
import { toError } from '../lib/errors.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';
import { optimizeSvg } from './svg.ts';

export const esbuild: Engine = {
  id: 'esbuild',
  name: 'esbuild',
  license: 'MIT',
  version: () => packageVersion('esbuild'),
};

export const lightningCss: Engine = {
  id: 'lightningcss',
  name: 'Lightning CSS',
  license: 'MPL-2.0',
  version: () => packageVersion('lightningcss'),
};

export const htmlMinifier: Engine = {
  id: 'html-minifier-next',
  name: 'HTML Minifier Next',
  license: 'MIT',
  version: () => packageVersion('html-minifier-next'),
};

export const minifiableTypes = ['html', 'css', 'js', 'json', 'svg'] as const;
export type MinifiableType = (typeof minifiableTypes)[number];

export interface MinifyOptions {
  /** Shorten the names of variables nobody outside can see. */
  mangle: boolean;
  /** Also make a source map (JavaScript and CSS). */
  sourceMap: boolean;
}

export interface SourceCode {
  path: string;
  filename: string;
  text: string;
}

export interface Minified {
  code: string;
  /** JSON of the source map, when one was asked for. */
  map?: string | undefined;
}

type Minify = (source: SourceCode, options: MinifyOptions) => Promise<Minified>;

const minifiers: Record<MinifiableType, Minify> = {
  js: minifyJs,
  css: minifyCss,
  html: minifyHtml,
  json: async ({ text }) => ({ code: minifyJson(text) }),
  svg: async ({ path, filename }) => ({ code: await optimizeSvg(path, { filename, type: 'svg' }) }),
};

/**
 * Writes source code as short as it can be and mean the same.
 *
 * @throws Failure `invalid_input` with the place for code that cannot be parsed.
 */
export async function minifyCode(type: MinifiableType, source: SourceCode, options: MinifyOptions): Promise<Minified> {
  try {
    return await minifiers[type](source, options);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw notParsed(toError(error), source.filename);
  }
}

async function minifyJs({ text, filename }: SourceCode, { mangle, sourceMap }: MinifyOptions): Promise<Minified> {
  const { transform } = await import('esbuild');
  const { code, map } = await transform(text, {
    loader: /\.jsx$/i.test(filename) ? 'jsx' : 'js',
    minifyWhitespace: true,
    minifySyntax: true,
    minifyIdentifiers: mangle,
    legalComments: 'inline',
    sourcefile: filename,
    sourcemap: sourceMap ? 'external' : false,
    logLevel: 'silent',
  });
  return { code, map: sourceMap ? map : undefined };
}

async function minifyCss({ text, filename }: SourceCode, { sourceMap }: MinifyOptions): Promise<Minified> {
  const { transform } = await import('lightningcss');
  const { code, map } = transform({ filename, code: Buffer.from(text), minify: true, sourceMap });
  return { code: Buffer.from(code).toString(), map: sourceMap ? Buffer.from(map ?? []).toString() : undefined };
}

async function minifyHtml({ text }: SourceCode, { mangle }: MinifyOptions): Promise<Minified> {
  const { minify } = await import('html-minifier-next');
  const code = await minify(text, {
    collapseWhitespace: true,
    // White space between inline elements is a space on the page.
    conservativeCollapse: true,
    removeComments: true,
    minifyCSS: true,
    minifyJS: { mangle },
    continueOnParseError: false,
  });
  return { code };
}

/** White space between tokens goes; every number and string stays as it is written. */
function minifyJson(text: string): string {
  JSON.parse(text);
  return text.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
}

function notParsed(error: Error, filename: string): Failure {
  const reason = error instanceof RangeError ? 'it is nested too deeply' : firstReason(error);
  return new Failure('invalid_input', `"${filename}" cannot be parsed: ${reason.slice(0, 300)}.`, {
    file: filename,
    log: error.message,
  });
}

/** esbuild lists its errors with their places; the others say it in one line. */
function firstReason(
  error: Error & { errors?: { text: string; location: { line: number; column: number } | null }[] },
): string {
  const [first] = error.errors ?? [];
  if (first === undefined) return (error.message.split('\n')[0] ?? '').trim().replace(/\.$/, '');
  const { text, location } = first;
  return location === null ? text : `${text} (line ${location.line}, column ${location.column + 1})`;
}
