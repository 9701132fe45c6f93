import type { Entry } from 'yauzl';

const utf8Flag = 0x0800;
const unicodePathField = 0x7075;

/**
 * The name of an entry. Without a word on its encoding a name is of code page 437, says the standard; but the programs of
 * Apple and of many Unix systems write UTF-8, and a Windows in Japan Shift-JIS, and say nothing.
 */
export function entryName({ fileName, fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  const isStated = (generalPurposeBitFlag & utf8Flag) !== 0 || extraFields.some(({ id }) => id === unicodePathField);
  if (isStated || fileNameRaw.every((byte) => byte < 0x80)) return fileName;
  const decoded = decode(fileNameRaw, 'utf-8') ?? japanese(fileNameRaw) ?? fileName;
  return decoded.replaceAll('\\', '/');
}

function decode(bytes: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const japaneseName = /^[\u0020-\u007e\u3001-\u30fe\u4e00-\u9fff\uff01-\uff5e]+$/;
/** Letters with accents make single Japanese characters by chance, but hardly ever two in a row. */
const japaneseWord = /[\u3001-\u30fe\u4e00-\u9fff]{2}/;

function japanese(bytes: Buffer): string | undefined {
  const name = decode(bytes, 'shift_jis');
  return name !== undefined && japaneseName.test(name) && japaneseWord.test(name) ? name : undefined;
}
