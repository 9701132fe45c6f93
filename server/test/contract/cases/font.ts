import { expect } from 'vitest';
import type { Cases } from '../tool-case.ts';

const fontInSvg = {
  filename: 'font.svg',
  content:
    '<svg xmlns="http://www.w3.org/2000/svg"><defs><font id="T" horiz-adv-x="600"><font-face font-family="Test" units-per-em="1000" ascent="800" descent="-200"/><glyph unicode="A" horiz-adv-x="600" d="M0 0L300 700L600 0Z"/></font></defs></svg>',
};

export const fontCases: Cases = {
  'font-converter': { replaces: { svg: fontInSvg } },
  'font-subsetter': { values: { text: ['Hamburg'], unicodes: ['latin', 'U+0041-005A'], features: ['kern'] } },
  'webfont-generator': {
    values: { css_name: ['My Font'] },
    expect: ([archive]) => expect(archive?.entries).toHaveLength(4),
  },
  'font-inspector': { replaces: { svg: fontInSvg }, values: { sample: ['Hamburg'] } },
};
