import { languagePattern } from '../../engines/tesseract.ts';
import { text } from '../settings.ts';

/** The setting of every tool that recognises text. */
export const language = text({
  describe: 'The language of the text, as eng or deu; several are joined as eng+deu.',
  default: 'eng',
  max: 100,
  pattern: languagePattern,
  patternHint: 'must name languages such as eng or eng+deu',
});
