import type { Entry } from 'yauzl';

const utf8Flag = 0x0800;
const unicodePathField = 0x7075;

/**
 * The name of an entry. Without a word on its encoding a name is of code page 437, says the standard; but the programs of
 * Apple and of many Unix systems write UTF-8, and a Windows the code page of its country, and say nothing.
 */
export function entryName({ fileName, fileNameRaw, generalPurposeBitFlag, extraFields }: Entry): string {
  const isStated = (generalPurposeBitFlag & utf8Flag) !== 0 || extraFields.some(({ id }) => id === unicodePathField);
  return isStated ? fileName : guessedName(fileNameRaw, fileName);
}

/** The name that bytes without a word on their encoding stand for; `otherwise` when no guess fits. */
export function guessedName(bytes: Buffer, otherwise: string): string {
  if (bytes.every((byte) => byte < 0x80)) return otherwise;
  const guesses = [
    () => decode(bytes, 'utf-8'),
    ...[japanese, korean, chinese, russian].map((guess) => () => guess(bytes)),
  ];
  for (const guess of guesses) {
    const name = guess();
    if (name !== undefined) return name.replaceAll('\\', '/');
  }
  return otherwise;
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

/** In code page 437 these bytes are borders of boxes and Greek letters: no name has them in a row. */
const chineseName = /^[\u0020-\u007e\u3001-\u3011\u4e00-\u9fff\uff01-\uff5e]+$/;
const chineseWord = /[\u4e00-\u9fff]{2}/;
const commonChinese = /^(?:[\x20-\x7e]|[\xa1\xa3][\xa1-\xfe]|[\xb0-\xf7][\xa1-\xfe])+$/;

function chinese(bytes: Buffer): string | undefined {
  if (!commonChinese.test(bytes.toString('latin1'))) return undefined;
  const name = decode(bytes, 'gb18030');
  return name !== undefined && chineseName.test(name) && chineseWord.test(name) ? name : undefined;
}

/** What may be Korean may be Chinese as well; that all of many characters are from these 25 rows is no chance. */
const koreanName = /^(?:[\u0020-\u007e]*[\uac00-\ud7a3]){4,}[\u0020-\u007e]*$/;

function korean(bytes: Buffer): string | undefined {
  const name = decode(bytes, 'euc-kr');
  return name !== undefined && koreanName.test(name) ? name : undefined;
}

/** Western letters with accents have others without beside them. */
const russianName = /^[\u0020-\u007e\u0401\u0410-\u044f\u0451\u2116]+$/;
const russianWord = /[\u0401\u0410-\u044f\u0451]{3}/;
const mixedWord = /[A-Za-z][\u0401\u0410-\u044f\u0451]|[\u0401\u0410-\u044f\u0451][A-Za-z]/;

function russian(bytes: Buffer): string | undefined {
  const name = decode(bytes, 'ibm866');
  return name !== undefined && russianName.test(name) && russianWord.test(name) && !mixedWord.test(name)
    ? name
    : undefined;
}
