import { describe, expect, test } from 'vitest';
import { sample, sampleTypes } from '../../test/fixtures/samples.ts';
import { fileTypes, type FileTypeId } from '../lib/media-types.ts';
import { acceptedAs, satisfies } from './accept.ts';
import { sniffFile } from './sniff.ts';

type Accepts = readonly FileTypeId[] | 'any';

describe('by content alone', () => {
  test.each<[FileTypeId, Accepts, FileTypeId | undefined]>([
    ['png', ['png', 'jpeg'], 'png'],
    ['png', ['jpeg'], undefined],
    ['binary', 'any', 'binary'],
    ['txt', ['csv', 'json'], 'csv'],
    ['tsv', ['csv'], 'csv'],
    ['csv', ['txt', 'csv'], 'csv'],
    ['json', ['txt'], 'txt'],
    ['json', ['ndjson'], 'ndjson'],
    ['json', ['json5'], 'json5'],
    ['ndjson', ['json'], undefined],
    ['docx', ['zip'], 'zip'],
    ['epub', ['zip'], 'zip'],
    ['zip', ['docx'], undefined],
    ['zip', ['cbz'], undefined],
    ['svg', ['xml'], 'xml'],
    ['html', ['md'], 'md'],
    ['csv', ['md', 'txt'], 'txt'],
    ['txt', ['css', 'js'], undefined],
    ['txt', ['tex', 'zip'], 'tex'],
    ['raw', ['tiff'], undefined],
    ['tiff', ['raw'], undefined],
    ['binary', ['txt'], undefined],
    ['binary', ['zip', 'br'], undefined],
    ['mov', ['mp4'], 'mp4'],
    ['mp4', ['m4a'], undefined],
    ['encrypted_office', ['xlsx', 'csv'], 'xlsx'],
    ['encrypted_office', ['docx', 'encrypted_office'], 'encrypted_office'],
  ])('%s for %j is read as %s', (type, accepts, expected) => {
    expect(acceptedAs(type, accepts, 'name')).toBe(expected);
    expect(satisfies(type, accepts, 'name')).toBe(expected !== undefined);
  });
});

describe('by name where content cannot tell', () => {
  test.each<[FileTypeId, string, Accepts, FileTypeId | undefined]>([
    ['csv', 'styles.CSS', ['css', 'js', 'html'], 'css'],
    ['txt', 'app.ts', ['js', 'typescript'], 'typescript'],
    ['json', 'settings.yml', ['json', 'yaml'], 'yaml'],
    ['txt', 'broken.json', ['csv', 'json'], 'json'],
    ['json', 'rows.ndjson', ['json', 'ndjson'], 'ndjson'],
    ['txt', 'film.srt', ['vtt', 'srt'], 'srt'],
    ['csv', 'one-column.tsv', ['csv', 'tsv'], 'tsv'],
    ['tsv', 'tabs.csv', ['csv', 'tsv'], 'tsv'],
    ['csv', 'rows.json', ['csv', 'json'], 'csv'],
    ['zip', 'comic.cbz', ['cbz', 'cbr'], 'cbz'],
    ['zip', 'comic.cbr', ['cbz', 'cbr'], 'cbr'],
    ['rar', 'photos.rar', ['cbz', 'cbr'], undefined],
    ['mp4', 'song.m4a', ['mp3', 'm4a'], 'm4a'],
    ['mp4', 'film.mp4', ['mp3', 'm4a'], undefined],
    ['binary', 'page.html.br', ['gz', 'br'], 'br'],
    ['mp3', 'by-accident.br', ['gz', 'br'], 'br'],
    ['txt', 'fake.png', ['png', 'txt'], 'txt'],
    ['binary', 'fake.pdf', ['pdf'], undefined],
    ['jpeg', 'photo.png', ['png', 'jpeg'], 'jpeg'],
    ['docx', 'letter.zip', ['zip', 'docx'], 'docx'],
    ['encrypted_office', 'locked.pptx', ['docx', 'xlsx', 'pptx'], 'pptx'],
    ['html', 'page.html', 'any', 'html'],
  ])('%s called %s for %j is read as %s', (type, filename, accepts, expected) => {
    expect(acceptedAs(type, accepts, filename)).toBe(expected);
  });
});

test.each(sampleTypes)('the sample of %s is read as that by a tool of every format', async (type) => {
  const everything = Object.keys(fileTypes) as FileTypeId[];
  expect(acceptedAs(await sniffFile(sample(type)), everything, sample(type))).toBe(type);
});
