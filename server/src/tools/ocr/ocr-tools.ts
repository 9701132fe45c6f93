import imageTextExtractor from './image-text-extractor.ts';
import pdfOcrProcessor from './pdf-ocr-processor.ts';

/** In the order they are listed. */
export const ocrTools = [imageTextExtractor, pdfOcrProcessor];
