import { structureDocument, type StructureOptions } from '../../engines/page-structure/document.ts';
import type { DocumentStructure } from '../../engines/page-structure/types.ts';
import { readPdf } from '../../engines/pdfium.ts';
import type { InputFile, ToolContext } from '../define.ts';
import { selectPages } from '../page-ranges.ts';

interface Chosen {
  pages: string;
  password: string | undefined;
}

/** What is on the chosen pages of one input of a tool that has the `pages` and `password` settings. */
export function readStructure(
  { path, filename }: InputFile,
  { settings, scratch, signal }: Pick<ToolContext<Chosen>, 'settings' | 'scratch' | 'signal'>,
  options: Pick<StructureOptions, 'tables' | 'pictures' | 'drawings' | 'ocrLanguage' | 'onProgress'>,
): Promise<DocumentStructure> {
  return readPdf({ path, filename, password: settings.password, scratch }, (reader) => {
    const pages = selectPages(settings.pages, reader.pageCount, filename);
    return structureDocument(reader, { ...options, pages, filename, scratch, signal });
  });
}
