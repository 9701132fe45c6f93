declare module 'fontverter' {
  type FontFormat = 'sfnt' | 'truetype' | 'woff' | 'woff2';
  /** @throws Error for bytes that are no font. */
  export function convert(font: Buffer, to: FontFormat): Promise<Buffer>;
}

declare module 'subset-font' {
  interface SubsetFontOptions {
    targetFormat?: 'sfnt' | 'truetype' | 'woff' | 'woff2';
    noHinting?: boolean;
    keepAllGlyphs?: boolean;
    keepFeatures?: string[];
  }
  /** @throws Error for a damaged font. */
  export default function subsetFont(
    font: Buffer,
    text: string | undefined,
    options?: SubsetFontOptions,
  ): Promise<Buffer>;
}
