import { text } from '../settings.ts';

/** The setting that opens locked office documents; LibreOffice takes it as one line. */
export function documentPassword() {
  return text({
    describe: 'The password of encrypted documents.',
    secret: true,
    max: 255,
    pattern: /^[^\r\n]*$/,
    patternHint: 'must be one line',
  });
}
