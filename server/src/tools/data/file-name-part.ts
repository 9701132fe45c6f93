/** Text of a file's content as a part of an output's name: short, and without what file systems object to. */
export function fileNamePart(text: string): string {
  const clean = text
    // oxlint-disable-next-line no-control-regex -- no name may have control characters
    .replaceAll(/[\x00-\x1f\x7f<>:"/\\|?*]+/g, '_')
    .trim()
    .replace(/[. ]+$/, '');
  return [...clean].slice(0, 60).join('').trim() || '_';
}
