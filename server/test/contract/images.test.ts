import { contract } from './contract.ts';
import { imageCases } from './cases/image.ts';
import { ocrCases } from './cases/ocr.ts';

contract({ image: imageCases, ocr: ocrCases });
