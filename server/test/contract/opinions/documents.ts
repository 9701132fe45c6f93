import { lines, say, type Opinion } from './opinion.ts';

const plainPdf: Opinion = async (path) => {
  await say('qpdf', '--check', path).catch((error: unknown) => {
    if ((error as { code?: number }).code !== 3) throw error; // 3: readable, with warnings.
  });
  const pages = Number(/^Pages:\s+(\d+)$/m.exec(await say('pdfinfo', path))?.[1]);
  await say('pdftoppm', '-r', '10', '-png', '-singlefile', path, `${path}.first-page`);
  return { pages };
};

/** A PDF that its password keeps closed to a stranger is as it should be. */
export const pdf: Opinion = async (path) => {
  const isLocked = await say('qpdf', '--requires-password', path).then(
    () => true,
    () => false,
  );
  return isLocked ? {} : plainPdf(path);
};

/** A document whose text pandoc reads. */
export function document(from: 'docx' | 'odt' | 'rtf' | 'epub'): Opinion {
  return async (path) => ({ text: (await say('pandoc', '--sandbox', '-f', from, '-t', 'plain', path)).trim() });
}

export const presentation: Opinion = async (path) => {
  const entries = await zipEntries(path);
  return { pages: entries.filter((name) => /^ppt\/slides\/slide\d+\.xml$/.test(name)).length, entries };
};

/** Rows of the first sheet. */
export const workbook: Opinion = async (path) => {
  const entries = await zipEntries(path);
  const sheet = await say('unzip', '-p', path, entries.find((name) => name.startsWith('xl/worksheets/')) ?? 'none');
  return { rows: sheet.split(/<row[ >]/).length - 1, entries };
};

/** An EPUB names its kind first, and pandoc reads its text. */
export const book: Opinion = async (path) => {
  const entries = await zipEntries(path);
  if (entries[0] !== 'mimetype') throw new Error(`begins with ${entries[0]}`);
  return { entries, ...(await document('epub')(path)) };
};

/** What ExifTool takes a Kindle book for. */
export const kindleBook: Opinion = async (path) => ({
  text: (await say('exiftool', '-s3', '-FileType', '-BookName', '-Title', path)).trim(),
});

/** With a password its names can be read all the same, its contents not. */
export const zip: Opinion = async (path) => ({ entries: await zipEntries(path) });

async function zipEntries(path: string): Promise<string[]> {
  const isLocked = /file security status: +encrypted/.test(await say('unzip', '-Z', '-v', path));
  if (!isLocked) await say('unzip', '-tqq', path);
  return lines(await say('unzip', '-Z1', path));
}
