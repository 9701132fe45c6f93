import colorPaletteExtractor from './color-palette-extractor.ts';
import duplicateImageFinder from './duplicate-image-finder.ts';
import faviconGenerator from './favicon-generator.ts';
import gifMaker from './gif-maker.ts';
import gifOptimizer from './gif-optimizer.ts';
import heicConverter from './heic-converter.ts';
import imageBorderAdder from './image-border-adder.ts';
import imageCollager from './image-collager.ts';
import imageColorAdjuster from './image-color-adjuster.ts';
import imageComparer from './image-comparer.ts';
import imageCompressor from './image-compressor.ts';
import imageConverter from './image-converter.ts';
import imageCropper from './image-cropper.ts';
import imageFilterApplier from './image-filter-applier.ts';
import imageResizer from './image-resizer.ts';
import imageRotator from './image-rotator.ts';
import imageSplitter from './image-splitter.ts';
import imageToPdfConverter from './image-to-pdf-converter.ts';
import imageVectorizer from './image-vectorizer.ts';
import imageWatermarker from './image-watermarker.ts';
import rawPhotoConverter from './raw-photo-converter.ts';
import spriteSheetMaker from './sprite-sheet-maker.ts';
import svgOptimizer from './svg-optimizer.ts';
import svgRasterizer from './svg-rasterizer.ts';
import thumbnailMaker from './thumbnail-maker.ts';

/** In the order they are listed. */
export const imageTools = [
  imageCompressor,
  imageResizer,
  imageConverter,
  imageCropper,
  imageRotator,
  imageWatermarker,
  heicConverter,
  imageToPdfConverter,
  thumbnailMaker,
  imageColorAdjuster,
  imageFilterApplier,
  imageBorderAdder,
  imageCollager,
  imageSplitter,
  imageComparer,
  duplicateImageFinder,
  svgRasterizer,
  svgOptimizer,
  imageVectorizer,
  gifMaker,
  gifOptimizer,
  faviconGenerator,
  spriteSheetMaker,
  rawPhotoConverter,
  colorPaletteExtractor,
];
