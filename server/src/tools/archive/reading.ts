import { bsdtar, type ReadingLimits } from '../../engines/archive-reading/read-archive.ts';
import type { Engine } from '../../engines/engine.ts';
import { sevenZip } from '../../engines/seven-zip.ts';
import type { InputFacts } from '../define.ts';
import { text } from '../settings.ts';

/** Unpacked, of one archive: what a disk can take without anybody noticing. */
const maxBytes = 20_000_000_000;

export const usualLimits: ReadingLimits = { maxFiles: 10_000, maxBytes, maxRatio: 200 };

/** Programs without which an archive of this kind cannot be read. */
const programs: Partial<Record<InputFacts['type'], readonly Engine[]>> = {
  '7z': [bsdtar, sevenZip],
  rar: [bsdtar],
  iso: [bsdtar],
  cab: [bsdtar],
  bz2: [sevenZip],
  xz: [sevenZip],
};

/** The programs that reading these archives needs, each once. */
export function readingPrograms(inputs: readonly InputFacts[]): readonly Engine[] {
  return [...new Set(inputs.flatMap(({ type }) => programs[type] ?? []))];
}

export const archivePassword = text({
  max: 127,
  secret: true,
  pattern: /^[^\r\n]*$/,
  patternHint: 'must be one line',
  describe: 'The password of encrypted archives (ZIP and 7z).',
});
