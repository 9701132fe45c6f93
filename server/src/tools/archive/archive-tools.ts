import archiveConverter from './archive-converter.ts';
import archiveCreator from './archive-creator.ts';
import archiveExtractor from './archive-extractor.ts';
import archiveInspector from './archive-inspector.ts';
import gzipCompressor from './gzip-compressor.ts';

/** In the order they are listed. */
export const archiveTools = [archiveCreator, archiveExtractor, archiveConverter, archiveInspector, gzipCompressor];
