import { textEncodings } from '../../engines/text-encodings.ts';
import { choice } from '../settings.ts';

/** How the subtitles that are sent are encoded. */
export const encoding = choice({
  of: ['auto', ...textEncodings],
  default: 'auto',
  describe: 'How the subtitles are encoded; auto finds it out.',
});
