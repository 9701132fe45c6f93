import { writeFile } from 'node:fs/promises';
import type Pptx from 'pptxgenjs';
import { Failure } from '../lib/failure.ts';
import { backdropOf } from './html-pages.ts';
import { blocksOf, type PageStructure, type Paragraph } from './page-structure/types.ts';
import type { Box, ContentShape } from './pdfium-content.ts';
import type { PdfReader } from './pdfium.ts';
import { loadSharp } from './sharp.ts';

/** What PowerPoint allows, in inches. */
const [leastSide, mostSide] = [1, 56];
/** All pictures of a presentation together. */
const maxPictureBytes = 512 * 1024 * 1024;
/** A larger PNG is a photo: JPEG holds it in a fraction. */
const largePng = 400_000;

/** A presentation in the making. All slides have the size of the first page; other pages are fitted into it. */
export interface SlideDeck {
  /** The page as one picture. */
  addPicture(reader: PdfReader, page: number, dpi: number): Promise<void>;
  /** The page as text boxes, pictures and shapes. */
  addEditable(reader: PdfReader, page: PageStructure): Promise<void>;
  write(path: string): Promise<void>;
}

/** How a page lies on its slide: inches of a point, and inches of its top left corner. */
interface Placing {
  scale: number;
  left: number;
  top: number;
}

export async function createSlides(first: { width: number; height: number }): Promise<SlideDeck> {
  const { default: loaded } = await import('pptxgenjs');
  // Its types say CommonJS, with the class as `default`; what Node loads is the class itself.
  const Presentation = (typeof loaded === 'function' ? loaded : loaded.default) as typeof Pptx.default;
  const deck = new Presentation();
  const longest = Math.max(first.width, first.height) / 72;
  const fitting = Math.min(1, mostSide / longest);
  const side = (points: number) => Math.max(leastSide, (points / 72) * fitting);
  const slideSize = { width: side(first.width), height: side(first.height) };
  deck.defineLayout({ name: 'page', ...slideSize });
  deck.layout = 'page';
  let bytes = 0;
  const dataOf = (format: string, data: Buffer) => {
    bytes += data.length;
    if (bytes > maxPictureBytes)
      throw new Failure('resource_limit', 'The pictures of the slides are too large together. Choose less dpi.');
    return `image/${format};base64,${data.toString('base64')}`;
  };
  const placingOf = ({ width, height }: { width: number; height: number }): Placing => {
    const scale = Math.min(slideSize.width / width, slideSize.height / height);
    return { scale, left: (slideSize.width - width * scale) / 2, top: (slideSize.height - height * scale) / 2 };
  };
  return {
    async addPicture(reader, page, dpi) {
      const size = reader.pageSize(page);
      const { format, data } = await pictureOf(reader, page, dpi);
      const whole = { left: 0, top: 0, right: size.width, bottom: size.height };
      deck.addSlide().addImage({ data: dataOf(format, data), ...placed(whole, placingOf(size)) });
    },
    async addEditable(reader, page) {
      const placing = placingOf(page);
      const slide = deck.addSlide();
      const content = reader.content(page.index, { wantsImage: () => false });
      const whole = { left: 0, top: 0, right: page.width, bottom: page.height };
      // Curves and shadings have no shape of their own here: then everything but the text is one picture.
      const backdrop = content.drawings.length === 0 ? undefined : await backdropOf(reader, page.index);
      if (backdrop !== undefined)
        slide.addImage({ data: dataOf(backdrop.format, backdrop.data), ...placed(whole, placing) });
      else {
        for (const shape of content.fills.slice(0, maxShapes)) addShape(slide, shape, placing);
        const pictures = [...page.backgrounds, ...blocksOf(page).filter((block) => block.kind === 'picture')];
        for (const { file, ...box } of pictures)
          slide.addImage({ data: dataOf(file.format, file.data), ...placed(box, placing) });
        for (const shape of content.rules.slice(0, maxShapes)) addShape(slide, shape, placing);
      }
      const texts = blocksOf(page).flatMap((block) => {
        if (block.kind === 'table') return block.cells.flatMap(({ paragraphs }) => paragraphs);
        return block.kind === 'paragraph' ? [block] : [];
      });
      for (const paragraph of [...page.header, ...texts, ...page.footer]) addText(slide, paragraph, placing);
    },
    async write(path) {
      await writeFile(path, (await deck.write({ outputType: 'nodebuffer' })) as Buffer);
    },
  };
}

const maxShapes = 3000;

async function pictureOf(
  reader: PdfReader,
  page: number,
  dpi: number,
): Promise<{ format: 'png' | 'jpeg'; data: Buffer }> {
  const sharp = await loadSharp();
  const rendered = reader.render(page, { dpi, transparent: false });
  const image = sharp(rendered.pixels, { raw: rendered });
  const png = await image.clone().png().toBuffer();
  if (png.length <= largePng) return { format: 'png', data: png };
  const jpeg = await image.jpeg({ quality: 88 }).toBuffer();
  return jpeg.length < png.length ? { format: 'jpeg', data: jpeg } : { format: 'png', data: png };
}

function placed({ left, top, right, bottom }: Box, placing: Placing): { x: number; y: number; w: number; h: number } {
  const { scale } = placing;
  return {
    x: placing.left + left * scale,
    y: placing.top + top * scale,
    w: Math.max(0.005, (right - left) * scale),
    h: Math.max(0.005, (bottom - top) * scale),
  };
}

function addShape(slide: Pptx.default.Slide, shape: ContentShape, placing: Placing): void {
  slide.addShape('rect', {
    ...placed(shape, placing),
    fill: { color: shape.color.toUpperCase() },
    line: { type: 'none' },
  });
}

/** Room for letters that are a little wider in another font. */
const slack = 1.04;

function addText(slide: Pptx.default.Slide, paragraph: Paragraph, placing: Placing): void {
  const { runs, align, leading, firstBaseline, lastBaseline, lineCount, list } = paragraph;
  const points = placing.scale * 72;
  const left = list === undefined ? paragraph.left + Math.min(0, paragraph.firstIndent) : list.left;
  const box = {
    left,
    right: left + (paragraph.right - left) * slack + 2,
    top: firstBaseline - leading * 0.8,
    bottom: lastBaseline + leading * 0.3,
  };
  const marker = list === undefined ? [] : [{ text: `${list.marker} `, options: textOptions(runs[0], points) }];
  slide.addText(
    [...marker, ...runs.map((run) => ({ text: run.text.replaceAll(notInXml, ''), options: textOptions(run, points) }))],
    {
      ...placed(box, placing),
      margin: 0,
      valign: 'top',
      align,
      wrap: lineCount > 1,
      lineSpacing: Math.max(1, Math.min(1500, leading * points)),
    },
  );
}

/** XML 1.0 has no place for these. */
const notInXml = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu;

function textOptions(run: Paragraph['runs'][number] | undefined, points: number): Pptx.default.TextPropsOptions {
  if (run === undefined) return {};
  const { style, link, position } = run;
  const size = position === undefined ? style.size : style.size * 1.5;
  return {
    fontFace: style.family,
    fontSize: Math.max(1, Math.min(4000, Math.round(size * points * 10) / 10)),
    bold: style.bold,
    italic: style.italic,
    color: style.color.toUpperCase(),
    ...(position === 'super' ? { superscript: true } : {}),
    ...(position === 'sub' ? { subscript: true } : {}),
    ...(link === undefined ? {} : { hyperlink: { url: link } }),
  };
}
