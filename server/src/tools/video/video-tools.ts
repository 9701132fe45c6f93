import audioExtractor from './audio-extractor.ts';
import hlsPackager from './hls-packager.ts';
import slideshowMaker from './slideshow-maker.ts';
import videoCompressor from './video-compressor.ts';
import videoConverter from './video-converter.ts';
import videoCropper from './video-cropper.ts';
import videoFrameExtractor from './video-frame-extractor.ts';
import videoMerger from './video-merger.ts';
import videoMuter from './video-muter.ts';
import videoResizer from './video-resizer.ts';
import videoRotator from './video-rotator.ts';
import videoSpeedChanger from './video-speed-changer.ts';
import videoStabilizer from './video-stabilizer.ts';
import videoThumbnailer from './video-thumbnailer.ts';
import videoToGifConverter from './video-to-gif-converter.ts';
import videoTrimmer from './video-trimmer.ts';
import videoWatermarker from './video-watermarker.ts';

/** In the order they are listed. */
export const videoTools = [
  videoConverter,
  videoCompressor,
  videoTrimmer,
  videoToGifConverter,
  audioExtractor,
  videoMerger,
  videoResizer,
  videoCropper,
  videoRotator,
  videoMuter,
  videoSpeedChanger,
  videoWatermarker,
  videoThumbnailer,
  videoFrameExtractor,
  videoStabilizer,
  hlsPackager,
  slideshowMaker,
];
