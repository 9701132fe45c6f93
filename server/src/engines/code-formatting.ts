import type { BuiltInParserName, Options } from 'prettier';
import { Failure } from '../lib/failure.ts';
import { toError } from '../lib/errors.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const prettier: Engine = {
  id: 'prettier',
  name: 'Prettier',
  license: 'MIT',
  version: () => packageVersion('prettier'),
};

export const sqlFormatter: Engine = {
  id: 'sql-formatter',
  name: 'SQL Formatter',
  license: 'MIT',
  version: () => packageVersion('sql-formatter'),
};

const parsers = {
  js: 'babel',
  typescript: 'typescript',
  css: 'css',
  html: 'html',
  json: 'json',
  json5: 'json5',
  md: 'markdown',
  yaml: 'yaml',
} as const satisfies Record<string, BuiltInParserName>;

/** Languages that can be formatted, as format ids. */
export const formattableTypes = [...(Object.keys(parsers) as (keyof typeof parsers)[]), 'xml', 'sql'] as const;
export type FormattableType = (typeof formattableTypes)[number];

export interface FormatOptions {
  /** Spaces of one level. */
  indent: number;
  /** Characters a line should not go beyond. */
  width: number;
}

/**
 * Lays out source code anew; what it means stays.
 *
 * @throws Failure `invalid_input` with line and column for code that cannot be parsed.
 */
export async function formatCode(
  { text, type, filename }: { text: string; type: FormattableType; filename: string },
  { indent, width }: FormatOptions,
): Promise<string> {
  try {
    if (type === 'sql') return await formatSql(text, { indent, width });
    const { format } = await import('prettier');
    return await format(text, { ...(await languageOptions(type)), tabWidth: indent, printWidth: width });
  } catch (error) {
    throw notParsed(toError(error), filename);
  }
}

async function languageOptions(type: Exclude<FormattableType, 'sql'>): Promise<Options> {
  if (type !== 'xml') return { parser: parsers[type] };
  const plugin = await import('@prettier/plugin-xml');
  // White space in an element that also holds text is part of it.
  return { parser: 'xml', plugins: [plugin.default], xmlWhitespaceSensitivity: 'preserve' };
}

async function formatSql(text: string, { indent, width }: FormatOptions): Promise<string> {
  const { format } = await import('sql-formatter');
  return `${format(text, { tabWidth: indent, expressionWidth: width, keywordCase: 'preserve' })}\n`;
}

/** `Unexpected token (3:14)` and the like: the first line says what and where. */
function notParsed(error: Error, filename: string): Failure {
  const tooDeep = error instanceof RangeError;
  const reason = tooDeep ? 'it is nested too deeply' : (error.message.split('\n')[0] ?? '').trim().replace(/\.$/, '');
  return new Failure('invalid_input', `"${filename}" cannot be parsed: ${reason.slice(0, 300)}.`, {
    file: filename,
    log: error.message,
  });
}
