import pdfAttachmentExtractor from './pdf-attachment-extractor.ts';
import pdfCompressor from './pdf-compressor.ts';
import pdfCropper from './pdf-cropper.ts';
import pdfFlattener from './pdf-flattener.ts';
import pdfComparer from './pdf-comparer.ts';
import pdfRedactor from './pdf-redactor.ts';
import pdfSigner from './pdf-signer.ts';
import pdfaConverter from './pdfa-converter.ts';
import pdfFormExtractor from './pdf-form-extractor.ts';
import pdfFormFiller from './pdf-form-filler.ts';
import pdfGrayscaler from './pdf-grayscaler.ts';
import pdfInfoReader from './pdf-info-reader.ts';
import pdfLinearizer from './pdf-linearizer.ts';
import pdfMerger from './pdf-merger.ts';
import pdfMetadataEditor from './pdf-metadata-editor.ts';
import pdfNupMaker from './pdf-nup-maker.ts';
import pdfOrganizer from './pdf-organizer.ts';
import pdfPageExtractor from './pdf-page-extractor.ts';
import pdfPageNumberer from './pdf-page-numberer.ts';
import pdfPageRemover from './pdf-page-remover.ts';
import pdfProtector from './pdf-protector.ts';
import pdfRepairer from './pdf-repairer.ts';
import pdfRotator from './pdf-rotator.ts';
import pdfSplitter from './pdf-splitter.ts';
import pdfTextExtractor from './pdf-text-extractor.ts';
import pdfImageExtractor from './pdf-image-extractor.ts';
import pdfToMarkdownConverter from './pdf-to-markdown-converter.ts';
import pdfToWordConverter from './pdf-to-word-converter.ts';
import pdfToExcelConverter from './pdf-to-excel-converter.ts';
import pdfToHtmlConverter from './pdf-to-html-converter.ts';
import pdfToPowerpointConverter from './pdf-to-powerpoint-converter.ts';
import pdfToImageConverter from './pdf-to-image-converter.ts';
import pdfUnlocker from './pdf-unlocker.ts';
import pdfWatermarker from './pdf-watermarker.ts';

/** In the order they are listed. */
export const pdfTools = [
  pdfMerger,
  pdfSplitter,
  pdfCompressor,
  pdfToImageConverter,
  pdfTextExtractor,
  pdfRotator,
  pdfPageExtractor,
  pdfPageRemover,
  pdfOrganizer,
  pdfUnlocker,
  pdfProtector,
  pdfLinearizer,
  pdfRepairer,
  pdfWatermarker,
  pdfPageNumberer,
  pdfFlattener,
  pdfGrayscaler,
  pdfCropper,
  pdfNupMaker,
  pdfAttachmentExtractor,
  pdfMetadataEditor,
  pdfInfoReader,
  pdfFormFiller,
  pdfFormExtractor,
  pdfComparer,
  pdfRedactor,
  pdfSigner,
  pdfaConverter,
  pdfImageExtractor,
  pdfToMarkdownConverter,
  pdfToWordConverter,
  pdfToExcelConverter,
  pdfToHtmlConverter,
  pdfToPowerpointConverter,
];
