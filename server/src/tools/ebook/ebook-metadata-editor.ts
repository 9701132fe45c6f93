import { calibre, editBookMetadata } from '../../engines/calibre.ts';
import { extensionOf } from '../../lib/media-types.ts';
import { defineTool } from '../define.ts';
import { eachInput } from '../each-input.ts';
import { text } from '../settings.ts';

export default defineTool({
  slug: 'ebook-metadata-editor',
  name: 'E-book Metadata Editor',
  category: 'ebook',
  description: 'Writes title, author, series, language and ISBN into books.',
  accepts: ['epub', 'mobi', 'azw3', 'pdf'],
  produces: ['epub', 'mobi', 'azw3', 'pdf'],
  files: { min: 1, max: 50 },
  timeoutSeconds: 300,
  engines: [calibre],
  settings: {
    title: text({ describe: 'The title.', max: 500 }),
    author: text({ describe: 'The author; several are separated by &.', max: 500 }),
    series: text({ describe: 'The series it belongs to (EPUB and PDF).', max: 500 }),
    language: text({
      describe: 'The language as a code, such as en or de.',
      pattern: /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$/,
      patternHint: 'must be a language code such as en or de',
      max: 35,
    }),
    isbn: text({
      describe: 'The ISBN, with ten or thirteen digits.',
      pattern: /^(97[89][- ]?)?(\d[- ]?){9}[\dXx]$/,
      patternHint: 'must be an ISBN of ten or thirteen digits',
      max: 20,
    }),
  },
  check(settings, inputs) {
    if (Object.values(settings).every((value) => value === undefined)) {
      return { title: ['is required when nothing else is to be written'] };
    }
    const kindle = inputs.some(({ type }) => type === 'mobi' || type === 'azw3');
    return settings.series !== undefined && kindle ? { series: ['cannot be written into MOBI and AZW3'] } : {};
  },
  async run(context) {
    const { settings, output, scratch, signal } = context;
    const { title, author: authors, series, language } = settings;
    const isbn = settings.isbn?.replaceAll(/[- ]/g, '');
    await eachInput(context, async (input) => {
      const target = output(`${input.stem}.${extensionOf(input.type)}`);
      await editBookMetadata(input, { title, authors, series, language, isbn }, { target, scratch, signal });
    });
  },
});
