import { writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type PizZipClass from 'pizzip';
import { Failure } from '../lib/failure.ts';
import type { Engine } from './engine.ts';
import { packageVersion } from './npm-package.ts';

export const docxtemplater: Engine = {
  id: 'docxtemplater',
  name: 'docxtemplater',
  license: 'MIT',
  version: () => packageVersion('docxtemplater'),
};

/** What a template is filled with: JSON. */
export type TemplateData = { readonly [name: string]: unknown };

export interface TemplateOptions {
  target: string;
  data: TemplateData;
  /** What stands around a name. */
  delimiters: { start: string; end: string };
  /** What happens to a name that the data does not have. */
  missing: 'empty' | 'keep' | 'refuse';
  signal: AbortSignal;
}

interface Template {
  path: string;
  /** The given name, for messages. */
  filename: string;
}

const maxUnpackedBytes = 200 * 1024 * 1024;
const maxParts = 10_000;
/** Values that may be looked up: loops within loops over the same list could go on for ever. */
const maxLookups = 250_000;

/**
 * Fills a DOCX or PPTX: `{name}`, `{customer.city}`, `{#items}…{/items}` for lists and conditions, `{^items}…{/items}` for
 * what is not there. A name is looked up, never run: there are no expressions.
 *
 * @throws Failure `invalid_input` with what is wrong in the template, `resource_limit`.
 */
export async function fillTemplate(template: Template, options: TemplateOptions): Promise<void> {
  const { filename: file } = template;
  const { target, data, delimiters, missing, signal } = options;
  const { default: Docxtemplater } = await import('docxtemplater');
  const zip = await readParts(template, signal);
  const absent = new Set<string>();
  let lookups = 0;
  const parser = (tag: string) => ({
    get: (scope: unknown) => {
      if (++lookups > maxLookups) throw new Error('too many values');
      return lookUp(scope, tag.trim());
    },
  });
  const nullGetter = ({ module, value }: { module?: string; value: string }) => {
    if (module !== undefined && module !== '') return ''; // A list or condition that is not there is none.
    absent.add(value.trim());
    return missing === 'keep' ? `${delimiters.start}${value}${delimiters.end}` : '';
  };
  try {
    const options = { parser, nullGetter, delimiters, paragraphLoop: true, linebreaks: true, errorLogging: false };
    const document = new Docxtemplater(zip, options);
    document.render(data);
  } catch (error) {
    if (lookups > maxLookups) {
      const message = `${file} asks for more than ${maxLookups.toLocaleString('en')} values.`;
      throw new Failure('resource_limit', message, { file, cause: error });
    }
    throw new Failure('invalid_input', `${file}: ${explain(error)}`, { file, cause: error });
  }
  if (missing === 'refuse' && absent.size > 0) {
    const names = [...absent].slice(0, 20).join(', ');
    throw new Failure('invalid_input', `The data has no value for ${names}, which ${file} asks for.`, { file });
  }
  await writeFile(target, zip.generate({ type: 'nodebuffer', compression: 'DEFLATE' }));
}

/** `.` is the value itself; a path goes through objects and lists by what they hold of their own. */
function lookUp(scope: unknown, path: string): unknown {
  if (path === '.') return scope;
  let value = scope;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

/** Unpacks a template with its real sizes counted, which the template library would not do. */
async function readParts({ path, filename: file }: Template, signal: AbortSignal): Promise<PizZipClass> {
  const [{ openPromise }, { default: PizZip }] = await Promise.all([import('yauzl'), import('pizzip')]);
  const parts = new PizZip();
  let total = 0;
  let count = 0;
  try {
    const archive = await openPromise(path, { validateEntrySizes: true, autoClose: false });
    try {
      for await (const entry of archive.eachEntry()) {
        signal.throwIfAborted();
        total += entry.uncompressedSize;
        if (total > maxUnpackedBytes || ++count > maxParts) {
          throw new Failure('resource_limit', `${file} unpacks to more than the 200 MB that can be filled.`, { file });
        }
        if (entry.fileName.endsWith('/')) continue;
        parts.file(entry.fileName, await buffer(await archive.openReadStreamPromise(entry)));
      }
    } finally {
      archive.close();
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    throw new Failure('invalid_input', `${file} is damaged: it cannot be unpacked.`, { file, cause: error });
  }
  return parts;
}

interface TemplateError {
  message?: string;
  properties?: { explanation?: string; file?: string; errors?: TemplateError[] };
}

const shownErrors = 5;

/** The library's sentences about tags, each naming the tag. */
function explain(error: unknown): string {
  const { message, properties } = error as TemplateError;
  const errors = properties?.errors ?? [error as TemplateError];
  const sentences = errors.slice(0, shownErrors).map((one) => one.properties?.explanation ?? one.message ?? message);
  const more = errors.length > shownErrors ? ` And ${errors.length - shownErrors} more.` : '';
  return `${sentences.map((sentence) => `${String(sentence).replace(/\.$/, '')}.`).join(' ')}${more}`;
}
