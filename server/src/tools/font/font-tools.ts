import fontConverter from './font-converter.ts';
import fontInspector from './font-inspector.ts';
import fontSubsetter from './font-subsetter.ts';
import webfontGenerator from './webfont-generator.ts';

/** In the order they are listed. */
export const fontTools = [fontConverter, fontSubsetter, webfontGenerator, fontInspector];
