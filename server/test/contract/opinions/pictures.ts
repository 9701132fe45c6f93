import { say, text, type Opinion } from './opinion.ts';

/** ImageMagick tells what a picture is by its content, except where `format` must say. */
export function pictureAs(format = ''): Opinion {
  return async (path) => {
    const words = (await say('convert', `${format}${path}[0]`, '-format', '%w %h', 'info:')).split(' ');
    return { width: Number(words[0]), height: Number(words[1]) };
  };
}

/** For formats ImageMagick cannot be relied on to decode: their headers, by ExifTool. */
export const pictureHeader: Opinion = async (path) => {
  const [facts] = JSON.parse(await say('exiftool', '-j', '-ImageWidth', '-ImageHeight', path)) as Record<
    string,
    number
  >[];
  return { width: facts?.['ImageWidth'] ?? 0, height: facts?.['ImageHeight'] ?? 0 };
};

/** A drawing is drawn. A font that is an SVG shows nothing, but is well-formed all the same. */
export const drawing: Opinion = async (path) => {
  await say('xmllint', '--noout', '--nonet', '--huge', path);
  const source = (await text(path)).text ?? '';
  if (source.includes('<font-face')) return { text: source };
  await say('rsvg-convert', '--unlimited', '--width=64', '--keep-aspect-ratio', '--output', `${path}.png`, path);
  return { text: source };
};

export const font: Opinion = async (path) => ({
  text: (await say('fc-scan', '-f', '%{fontformat} %{charset}', path)).trim(),
});
