import barcodeGenerator from './barcode-generator.ts';
import barcodeReader from './barcode-reader.ts';
import base64Decoder from './base64-decoder.ts';
import base64Encoder from './base64-encoder.ts';
import fileDecryptor from './file-decryptor.ts';
import fileEncryptor from './file-encryptor.ts';
import filePreviewer from './file-previewer.ts';
import fileTypeDetector from './file-type-detector.ts';
import hashCalculator from './hash-calculator.ts';
import metadataRemover from './metadata-remover.ts';
import metadataViewer from './metadata-viewer.ts';
import qrCodeGenerator from './qr-code-generator.ts';

/** In the order they are listed. */
export const utilityTools = [
  qrCodeGenerator,
  barcodeGenerator,
  barcodeReader,
  metadataRemover,
  metadataViewer,
  filePreviewer,
  fileTypeDetector,
  hashCalculator,
  fileEncryptor,
  fileDecryptor,
  base64Encoder,
  base64Decoder,
];
