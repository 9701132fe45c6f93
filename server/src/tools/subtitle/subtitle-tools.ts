import subtitleBurner from './subtitle-burner.ts';
import subtitleConverter from './subtitle-converter.ts';
import subtitleExtractor from './subtitle-extractor.ts';
import subtitleShifter from './subtitle-shifter.ts';

/** In the order they are listed. */
export const subtitleTools = [subtitleConverter, subtitleShifter, subtitleExtractor, subtitleBurner];
