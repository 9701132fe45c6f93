import audioCompressor from './audio-compressor.ts';
import audioConverter from './audio-converter.ts';
import audioMerger from './audio-merger.ts';
import audioNoiseReducer from './audio-noise-reducer.ts';
import audioNormalizer from './audio-normalizer.ts';
import audioSpeedChanger from './audio-speed-changer.ts';
import audioSplitter from './audio-splitter.ts';
import audioTagEditor from './audio-tag-editor.ts';
import audioTrimmer from './audio-trimmer.ts';
import audioVolumeChanger from './audio-volume-changer.ts';
import silenceRemover from './silence-remover.ts';
import waveformGenerator from './waveform-generator.ts';

/** In the order they are listed. */
export const audioTools = [
  audioConverter,
  audioCompressor,
  audioTrimmer,
  audioMerger,
  audioSplitter,
  audioNormalizer,
  audioVolumeChanger,
  audioSpeedChanger,
  audioNoiseReducer,
  silenceRemover,
  waveformGenerator,
  audioTagEditor,
];
