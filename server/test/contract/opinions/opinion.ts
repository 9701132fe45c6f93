import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What a program that shares no code with the tool's engine sees in an output. */
export interface Facts {
  sizeBytes: number;
  /** Pages of a document, slides of a presentation. */
  pages?: number;
  /** Of the picture, or of the first video stream, in pixels. */
  width?: number;
  height?: number;
  durationSeconds?: number;
  audioStreams?: number;
  videoStreams?: number;
  /** Of a table, without what names its columns. */
  rows?: number;
  /** Names in an archive. */
  entries?: string[];
  /** What can be read of a text or a document. */
  text?: string;
}

/** Opens a file. @throws Error when it is not what it should be. */
export type Opinion = (path: string) => Promise<Omit<Facts, 'sizeBytes'>>;

const run = promisify(execFile);

/** What a program says on its standard output. @throws Error with its complaint when it fails. */
export async function say(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await run(program, args, { maxBuffer: 32 * 1024 * 1024 });
  return stdout;
}

export function lines(output: string): string[] {
  return output.split('\n').filter((line) => line !== '');
}

export const text: Opinion = async (path) => ({ text: (await readFile(path, 'utf8')).trim() });

/** XML a strict parser reads, and its text. */
export const xml: Opinion = async (path) => {
  await say('xmllint', '--noout', '--nonet', '--huge', path);
  return text(path);
};

/** A program that fails when something is wrong, and knows no more. */
export function tested(program: string, ...args: string[]): Opinion {
  return async (path) => {
    await say(program, ...args, path);
    return {};
  };
}

/** The first bytes of formats that nobody but their writer could open here. */
export function startsWith(pattern: RegExp): Opinion {
  return async (path) => {
    const head = (await readFile(path)).subarray(0, 256).toString('latin1');
    if (!pattern.test(head)) throw new Error(`begins with ${JSON.stringify(head.slice(0, 32))}`);
    return {};
  };
}
