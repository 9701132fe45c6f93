import ebookConverter from './ebook-converter.ts';
import ebookMetadataEditor from './ebook-metadata-editor.ts';
import epubValidator from './epub-validator.ts';
import comicConverter from './comic-converter.ts';

/** In the order they are listed. */
export const ebookTools = [ebookConverter, ebookMetadataEditor, epubValidator, comicConverter];
