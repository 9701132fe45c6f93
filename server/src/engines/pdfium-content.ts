import { createHash } from 'node:crypto';
import { Failure } from '../lib/failure.ts';
import { identity, multiply, type Matrix } from './pdf/content.ts';
import { fontStyle, type TextStyle } from './pdfium-fonts.ts';

/** The functions of PDFium that look into pages. */
export interface ContentModule {
  readonly HEAPU8: Uint8Array;
  readonly HEAP32: Int32Array;
  readonly HEAPF32: Float32Array;
  readonly HEAPF64: Float64Array;
  wasmExports: { malloc(size: number): number; free(pointer: number): void };
  _FPDFPage_GetRotation(page: number): number;
  _FPDF_GetPageBoundingBox(page: number, box: number): number;
  _FPDFPage_CountObjects(page: number): number;
  _FPDFPage_GetObject(page: number, index: number): number;
  _FPDFFormObj_CountObjects(form: number): number;
  _FPDFFormObj_GetObject(form: number, index: number): number;
  _FPDFPageObj_GetType(object: number): number;
  _FPDFPageObj_GetMatrix(object: number, matrix: number): number;
  _FPDFPageObj_SetMatrix(object: number, matrix: number): number;
  _FPDFPageObj_GetBounds(object: number, left: number, bottom: number, right: number, top: number): number;
  _FPDFPageObj_GetFillColor(object: number, r: number, g: number, b: number, a: number): number;
  _FPDFPageObj_GetStrokeColor(object: number, r: number, g: number, b: number, a: number): number;
  _FPDFPageObj_GetStrokeWidth(object: number, width: number): number;
  _FPDFPageObj_SetIsActive(object: number, active: number): number;
  _FPDFPath_GetDrawMode(path: number, fillMode: number, stroke: number): number;
  _FPDFPath_CountSegments(path: number): number;
  _FPDFPath_GetPathSegment(path: number, index: number): number;
  _FPDFPathSegment_GetPoint(segment: number, x: number, y: number): number;
  _FPDFPathSegment_GetType(segment: number): number;
  _FPDFPathSegment_GetClose(segment: number): number;
  _FPDFImageObj_GetImagePixelSize(image: number, width: number, height: number): number;
  _FPDFImageObj_GetImageDataRaw(image: number, buffer: number, length: number): number;
  _FPDFImageObj_GetImageFilterCount(image: number): number;
  _FPDFImageObj_GetImageFilter(image: number, index: number, buffer: number, length: number): number;
  _FPDFImageObj_GetRenderedBitmap(document: number, page: number, image: number): number;
  _FPDFBitmap_GetFormat(bitmap: number): number;
  _FPDFBitmap_GetBuffer(bitmap: number): number;
  _FPDFBitmap_GetWidth(bitmap: number): number;
  _FPDFBitmap_GetHeight(bitmap: number): number;
  _FPDFBitmap_GetStride(bitmap: number): number;
  _FPDFBitmap_Destroy(bitmap: number): void;
  _FPDFTextObj_GetFont(text: number): number;
  _FPDFTextObj_GetTextRenderMode(text: number): number;
  _FPDFFont_GetBaseFontName(font: number, buffer: number, length: number): number;
  _FPDFFont_GetFlags(font: number): number;
  _FPDFFont_GetWeight(font: number): number;
  _FPDFText_LoadPage(page: number): number;
  _FPDFText_ClosePage(text: number): void;
  _FPDFText_CountChars(text: number): number;
  _FPDFText_GetUnicode(text: number, index: number): number;
  _FPDFText_IsGenerated(text: number, index: number): number;
  _FPDFText_IsHyphen(text: number, index: number): number;
  _FPDFText_GetTextObject(text: number, index: number): number;
  _FPDFText_GetFontSize(text: number, index: number): number;
  _FPDFText_GetMatrix(text: number, index: number, matrix: number): number;
  _FPDFText_GetCharAngle(text: number, index: number): number;
  _FPDFText_GetCharOrigin(text: number, index: number, x: number, y: number): number;
  _FPDFText_GetLooseCharBox(text: number, index: number, box: number): number;
  _FPDFLink_Enumerate(page: number, position: number, link: number): number;
  _FPDFLink_GetAnnotRect(link: number, box: number): number;
  _FPDFLink_GetAction(link: number): number;
  _FPDFAction_GetURIPath(document: number, action: number, buffer: number, length: number): number;
}

/** A place on the page as it is shown, in points from its top left corner. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface ContentCharacter extends Box {
  text: string;
  /** Where the letter begins, and where it stands: y on the page as shown. */
  origin: number;
  baseline: number;
  /** A space or line end that is not in the file: PDFium concluded it from the distance. */
  isGenerated: boolean;
  /** A hyphen at the end of a line, within a word. */
  isHyphen: boolean;
  /** Radians anticlockwise, on the page as it is shown. */
  angle: number;
  style: TextStyle;
}

/** A filled rectangle, or a straight line along the page (as thin as it is drawn). */
export interface ContentShape extends Box {
  /** `rrggbb`. */
  color: string;
}

export interface ContentImage extends Box {
  /** From the unit square to the shown page: how the picture is stretched, turned and mirrored. y points down. */
  matrix: Matrix;
  /** Pixels as stored. */
  width: number;
  height: number;
  /** The same for the same data. */
  hash: string;
  /** The stored JPEG, when it is one. */
  jpeg?: Buffer;
  /** RGBA, upright as stored, with masks and colour spaces applied. */
  pixels: Buffer;
}

export interface PageContent {
  /** Points, as shown. */
  width: number;
  height: number;
  characters: ContentCharacter[];
  /** Straight lines along the page: of tables, boxes, under words. */
  rules: ContentShape[];
  /** Filled rectangles that are no lines. */
  fills: ContentShape[];
  /** Where other vector drawings are: curves, slanted lines, shadings. */
  drawings: Box[];
  images: ContentImage[];
  links: (Box & { address: string })[];
}

export interface ContentOptions {
  /** Which pictures to decode; all of them without it. */
  wantsImage?: (image: { hash: string; width: number; height: number }) => boolean;
}

const objectTypes = { text: 1, path: 2, image: 3, shading: 4, form: 5 } as const;
/** What only hostile or machine-made pages exceed. */
const maxCharacters = 500_000;
const maxObjects = 200_000;
const maxFormDepth = 12;
const maxShapes = 20_000;
const maxImagesPerPage = 2000;
const maxImagePixels = 100_000_000;
/** A drawn area no thicker than this is a line, in points. */
const maxRuleThickness = 3;
const invisible = 3;
/** A thick line reaches beyond the points it is drawn through, in points. */
const roomAround = 4;

interface Handles {
  document: number;
  page: number;
}

/** Everything on a page that a converter needs, with places on the page as it is shown. */
export function readContent(
  module: ContentModule,
  handles: Handles,
  size: { width: number; height: number },
  options: ContentOptions,
): PageContent {
  return withScratch(module, (scratch) => {
    const toShown = shownMatrix(module, handles.page, scratch);
    const content: PageContent = {
      ...size,
      characters: readCharacters(module, handles.page, toShown, scratch),
      rules: [],
      fills: [],
      drawings: [],
      images: [],
      links: readLinks(module, handles),
    };
    for (const { object, matrix } of pageObjects(module, handles.page, toShown, scratch)) {
      const type = module._FPDFPageObj_GetType(object);
      if (type === objectTypes.path) readPath(module, object, matrix, scratch, content);
      else if (type === objectTypes.shading) content.drawings.push(boundsOf(module, object, matrix, scratch));
      else if (type === objectTypes.image && content.images.length < maxImagesPerPage) {
        const image = readImage(module, { ...handles, object }, matrix, scratch, options);
        if (image !== undefined) content.images.push(image);
      }
    }
    return content;
  });
}

/** Makes the text of an open page invisible to the renderer, also in nested forms. */
export function hideText(module: ContentModule, page: number): void {
  withScratch(module, (scratch) => {
    for (const { object } of pageObjects(module, page, identity, scratch)) {
      if (module._FPDFPageObj_GetType(object) === objectTypes.text) module._FPDFPageObj_SetIsActive(object, 0);
    }
  });
}

/** Leaves on an open page nothing but the vector drawings that lie within these places of the shown page. */
export function keepDrawings(module: ContentModule, page: number, places: readonly Box[]): void {
  withScratch(module, (scratch) => {
    const toShown = shownMatrix(module, page, scratch);
    for (const { object, matrix } of pageObjects(module, page, toShown, scratch)) {
      const type = module._FPDFPageObj_GetType(object);
      const isDrawn = type === objectTypes.path || type === objectTypes.shading;
      const { left, top, right, bottom } = boundsOf(module, object, matrix, scratch);
      const isWithin = (place: Box) =>
        left > place.left - roomAround &&
        right < place.right + roomAround &&
        top > place.top - roomAround &&
        bottom < place.bottom + roomAround;
      if (!isDrawn || !places.some(isWithin)) module._FPDFPageObj_SetIsActive(object, 0);
    }
  });
}

function withScratch<T>(module: ContentModule, use: (scratch: number) => T): T {
  const scratch = module.wasmExports.malloc(4096);
  if (scratch === 0) throw new Failure('resource_limit', 'The page needs more memory than there is.');
  try {
    return use(scratch);
  } finally {
    module.wasmExports.free(scratch);
  }
}

function floats(module: ContentModule, pointer: number, count: number): number[] {
  return [...module.HEAPF32.subarray(pointer / 4, pointer / 4 + count)];
}

/** From the page's own coordinates (y up, before it is turned) to the shown ones. */
function shownMatrix(module: ContentModule, page: number, scratch: number): Matrix {
  module._FPDF_GetPageBoundingBox(page, scratch);
  const [left = 0, top = 0, right = 0, bottom = 0] = floats(module, scratch, 4);
  const turns = module._FPDFPage_GetRotation(page);
  if (turns === 1) return [0, 1, 1, 0, -bottom, -left];
  if (turns === 2) return [-1, 0, 0, 1, right, -bottom];
  if (turns === 3) return [0, -1, -1, 0, top, right];
  return [1, 0, 0, -1, -left, top];
}

function apply([a, b, c, d, e, f]: Matrix, x: number, y: number): { x: number; y: number } {
  return { x: a * x + c * y + e, y: b * x + d * y + f };
}

function boxOf(points: readonly { x: number; y: number }[]): Box {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
}

function shownBox(matrix: Matrix, left: number, bottom: number, right: number, top: number): Box {
  return boxOf([apply(matrix, left, bottom), apply(matrix, right, top)]);
}

/** The objects of a page, those in nested forms too, each with the transformation from its surroundings to the page. */
function* pageObjects(
  module: ContentModule,
  page: number,
  start: Matrix,
  scratch: number,
): Generator<{ object: number; matrix: Matrix }> {
  let budget = maxObjects;
  function* below(
    count: number,
    get: (index: number) => number,
    matrix: Matrix,
    depth: number,
  ): Generator<{ object: number; matrix: Matrix }> {
    for (let index = 0; index < count && budget-- > 0; index++) {
      const object = get(index);
      if (object === 0) continue;
      if (module._FPDFPageObj_GetType(object) !== objectTypes.form) yield { object, matrix };
      else if (depth < maxFormDepth) {
        const inner = multiply(objectMatrix(module, object, scratch), matrix);
        const children = module._FPDFFormObj_CountObjects(object);
        yield* below(children, (child) => module._FPDFFormObj_GetObject(object, child), inner, depth + 1);
      }
    }
  }
  yield* below(module._FPDFPage_CountObjects(page), (index) => module._FPDFPage_GetObject(page, index), start, 0);
}

function objectMatrix(module: ContentModule, object: number, scratch: number): Matrix {
  if (module._FPDFPageObj_GetMatrix(object, scratch) === 0) return identity;
  return floats(module, scratch, 6) as unknown as Matrix;
}

function boundsOf(module: ContentModule, object: number, matrix: Matrix, scratch: number): Box {
  module._FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12);
  const [left = 0, bottom = 0, right = 0, top = 0] = floats(module, scratch, 4);
  return shownBox(matrix, left, bottom, right, top);
}

type ColorReader = (object: number, r: number, g: number, b: number, a: number) => number;

function colorOf(module: ContentModule, read: ColorReader, object: number, scratch: number): string | undefined {
  if (read(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return undefined;
  const [r = 0, g = 0, b = 0, a = 255] = module.HEAP32.subarray(scratch / 4, scratch / 4 + 4);
  if (a < 8) return undefined;
  return [r, g, b].map((value) => (value & 0xff).toString(16).padStart(2, '0')).join('');
}

function readCharacters(module: ContentModule, page: number, toShown: Matrix, scratch: number): ContentCharacter[] {
  const text = module._FPDFText_LoadPage(page);
  if (text === 0) return [];
  try {
    const turns = module._FPDFPage_GetRotation(page);
    const styles = new Map<number, TextStyle>();
    // Programs write a line in many pieces: what looks the same is one style.
    const alike = new Map<string, TextStyle>();
    const count = Math.min(maxCharacters, module._FPDFText_CountChars(text));
    const characters: ContentCharacter[] = [];
    let previous: TextStyle | undefined;
    for (let index = 0; index < count; index++) {
      const unicode = module._FPDFText_GetUnicode(text, index);
      const object = module._FPDFText_GetTextObject(text, index);
      let style = object === 0 ? previous : styles.get(object);
      if (style === undefined) {
        const read = readStyle(module, { text, index, object }, scratch);
        const key = JSON.stringify(read);
        style = alike.get(key) ?? read;
        alike.set(key, style);
        styles.set(object, style);
      }
      previous = style;
      characters.push({
        text: unicode === 0 || unicode > 0x10_ff_ff ? '' : String.fromCodePoint(unicode),
        ...placeOf(module, text, index, toShown, scratch),
        isGenerated: module._FPDFText_IsGenerated(text, index) === 1,
        isHyphen: module._FPDFText_IsHyphen(text, index) === 1,
        angle: module._FPDFText_GetCharAngle(text, index) - (turns * Math.PI) / 2,
        style,
      });
    }
    return characters;
  } finally {
    module._FPDFText_ClosePage(text);
  }
}

function placeOf(module: ContentModule, text: number, index: number, toShown: Matrix, scratch: number) {
  module.HEAPF32.fill(0, scratch / 4, scratch / 4 + 12);
  module._FPDFText_GetLooseCharBox(text, index, scratch);
  module._FPDFText_GetCharOrigin(text, index, scratch + 16, scratch + 24);
  const [left = 0, top = 0, right = 0, bottom = 0] = floats(module, scratch, 4);
  const [x = 0, y = 0] = module.HEAPF64.subarray((scratch + 16) / 8, (scratch + 16) / 8 + 2);
  return {
    ...shownBox(toShown, left, bottom, right, top),
    origin: apply(toShown, x, y).x,
    baseline: apply(toShown, x, y).y,
  };
}

function readStyle(
  module: ContentModule,
  { text, index, object }: { text: number; index: number; object: number },
  scratch: number,
): TextStyle {
  const font = object === 0 ? 0 : module._FPDFTextObj_GetFont(object);
  module._FPDFText_GetMatrix(text, index, scratch);
  const [, , c = 0, d = 1] = floats(module, scratch, 4);
  const mode = object === 0 ? 0 : module._FPDFTextObj_GetTextRenderMode(object);
  const color = object === 0 ? undefined : colorOf(module, module._FPDFPageObj_GetFillColor, object, scratch);
  return fontStyle({
    name:
      font === 0
        ? ''
        : readString(module, scratch, (buffer, length) => module._FPDFFont_GetBaseFontName(font, buffer, length)),
    flags: font === 0 ? 0 : module._FPDFFont_GetFlags(font),
    weight: font === 0 ? 400 : module._FPDFFont_GetWeight(font),
    size: module._FPDFText_GetFontSize(text, index) * Math.hypot(c, d),
    color: color ?? '000000',
    isVisible: mode !== invisible && (object === 0 || color !== undefined),
  });
}

function readString(
  module: ContentModule,
  scratch: number,
  read: (buffer: number, length: number) => number,
  start = 64,
): string {
  const length = Math.min(2048, read(scratch + start, 2048));
  return Buffer.from(module.HEAPU8.subarray(scratch + start, scratch + start + Math.max(0, length - 1))).toString(
    'utf8',
  );
}

/** The addresses that places on an open page lead to. */
export function readLinks(module: ContentModule, { document, page }: Handles): PageContent['links'] {
  return withScratch(module, (scratch) => {
    const toShown = shownMatrix(module, page, scratch);
    const links: PageContent['links'] = [];
    module.HEAP32[scratch / 4] = 0;
    while (links.length < 10_000 && module._FPDFLink_Enumerate(page, scratch, scratch + 4) !== 0) {
      const link = module.HEAP32[(scratch + 4) / 4] ?? 0;
      const action = module._FPDFLink_GetAction(link);
      if (action === 0) continue;
      const address = readString(module, scratch, (buffer, length) =>
        module._FPDFAction_GetURIPath(document, action, buffer, length),
      );
      if (!/^(https?:\/\/|mailto:)/i.test(address)) continue;
      module._FPDFLink_GetAnnotRect(link, scratch + 16);
      const [left = 0, top = 0, right = 0, bottom = 0] = floats(module, scratch + 16, 4);
      links.push({ ...shownBox(toShown, left, bottom, right, top), address });
    }
    return links;
  });
}

interface Point {
  x: number;
  y: number;
}

function readPath(module: ContentModule, path: number, outer: Matrix, scratch: number, content: PageContent): void {
  if (content.rules.length + content.fills.length + content.drawings.length > maxShapes) return;
  module._FPDFPath_GetDrawMode(path, scratch, scratch + 4);
  const [fillMode = 0, hasStroke = 0] = module.HEAP32.subarray(scratch / 4, scratch / 4 + 2);
  const stroke = hasStroke === 0 ? undefined : colorOf(module, module._FPDFPageObj_GetStrokeColor, path, scratch);
  const fill = fillMode === 0 ? undefined : colorOf(module, module._FPDFPageObj_GetFillColor, path, scratch);
  if (stroke === undefined && fill === undefined) return;
  const matrix = multiply(objectMatrix(module, path, scratch), outer);
  const outlines = readOutlines(module, path, matrix, scratch);
  if (outlines === undefined) {
    content.drawings.push(boundsOf(module, path, outer, scratch));
    return;
  }
  module._FPDFPageObj_GetStrokeWidth(path, scratch);
  const thickness = Math.max(
    0.25,
    (floats(module, scratch, 1)[0] ?? 1) * Math.sqrt(Math.abs(matrix[0] * matrix[3] - matrix[1] * matrix[2])),
  );
  for (const outline of outlines) {
    const isRectangle = fill !== undefined && isUprightRectangle(outline);
    const box = boxOf(outline);
    // Browsers draw the borders of tables as slim trapezoids.
    if (fill !== undefined && (isRectangle || isLine(box))) addFill(content, { ...box, color: fill });
    else if (fill !== undefined) content.drawings.push(box);
    if (stroke !== undefined) addStroke(content, outline, thickness, stroke);
  }
}

/** The straight outlines of a path on the shown page; undefined when it has curves. */
function readOutlines(module: ContentModule, path: number, matrix: Matrix, scratch: number): Point[][] | undefined {
  const [lineTo, bezierTo, moveTo] = [0, 1, 2];
  const outlines: Point[][] = [];
  const count = module._FPDFPath_CountSegments(path);
  if (count > maxShapes) return undefined;
  for (let index = 0; index < count; index++) {
    const segment = module._FPDFPath_GetPathSegment(path, index);
    const type = module._FPDFPathSegment_GetType(segment);
    if (type === bezierTo) return undefined;
    module._FPDFPathSegment_GetPoint(segment, scratch, scratch + 4);
    const [x = 0, y = 0] = floats(module, scratch, 2);
    const point = apply(matrix, x, y);
    if (type === moveTo) outlines.push([point]);
    else if (type === lineTo) outlines.at(-1)?.push(point);
    const outline = outlines.at(-1);
    const first = outline?.[0];
    if (module._FPDFPathSegment_GetClose(segment) === 1 && outline !== undefined && first !== undefined)
      outline.push(first);
  }
  return outlines.filter((outline) => outline.length > 1);
}

function isUprightRectangle(outline: readonly Point[]): boolean {
  if (outline.length < 4 || outline.length > 6) return false;
  return outline.every((point, index) => {
    const next = outline[(index + 1) % outline.length] ?? point;
    return Math.abs(point.x - next.x) < 0.5 || Math.abs(point.y - next.y) < 0.5;
  });
}

function addFill(content: PageContent, shape: ContentShape): void {
  (isLine(shape) ? content.rules : content.fills).push(shape);
}

function isLine({ left, top, right, bottom }: Box): boolean {
  const [width, height] = [right - left, bottom - top];
  return Math.min(width, height) <= maxRuleThickness && Math.max(width, height) > 2 * Math.min(width, height);
}

function addStroke(content: PageContent, outline: readonly Point[], thickness: number, color: string): void {
  for (const [index, point] of outline.entries()) {
    const next = outline[index + 1];
    if (next === undefined) return;
    const box = boxOf([point, next]);
    const half = thickness / 2;
    if (box.right - box.left < 0.5) {
      content.rules.push({ ...box, left: box.left - half, right: box.right + half, color });
    } else if (box.bottom - box.top < 0.5) {
      content.rules.push({ ...box, top: box.top - half, bottom: box.bottom + half, color });
    } else content.drawings.push(box);
  }
}

function readImage(
  module: ContentModule,
  handles: Handles & { object: number },
  outer: Matrix,
  scratch: number,
  { wantsImage }: ContentOptions,
): ContentImage | undefined {
  const { object } = handles;
  if (module._FPDFImageObj_GetImagePixelSize(object, scratch, scratch + 4) === 0) return undefined;
  const [width = 0, height = 0] = module.HEAP32.subarray(scratch / 4, scratch / 4 + 2);
  if (width < 1 || height < 1) return undefined;
  const stored = rawData(module, object);
  const hash = createHash('sha256').update(`${width} ${height} `).update(stored).digest('hex');
  if (wantsImage?.({ hash, width, height }) === false) return undefined;
  if (width * height > maxImagePixels) {
    throw new Failure('resource_limit', `A picture of ${width} x ${height} pixels is too large.`);
  }
  // The rest of the transformation turns the unit square's y, which points up, into rows that go down.
  const matrix = multiply(objectMatrix(module, object, scratch), outer);
  const rendered = renderImage(module, handles, { width, height }, scratch);
  if (rendered === undefined) return undefined;
  const isJpeg =
    module._FPDFImageObj_GetImageFilterCount(object) === 1 && filterName(module, object, scratch) === 'DCTDecode';
  return {
    ...boxOf([apply(matrix, 0, 0), apply(matrix, 1, 0), apply(matrix, 0, 1), apply(matrix, 1, 1)]),
    matrix,
    width,
    height,
    hash,
    pixels: rendered,
    ...(isJpeg ? { jpeg: stored } : {}),
  };
}

function filterName(module: ContentModule, image: number, scratch: number): string {
  return readString(module, scratch, (buffer, length) => module._FPDFImageObj_GetImageFilter(image, 0, buffer, length));
}

function rawData(module: ContentModule, image: number): Buffer {
  const length = module._FPDFImageObj_GetImageDataRaw(image, 0, 0);
  if (length === 0) return Buffer.alloc(0);
  const buffer = module.wasmExports.malloc(length);
  if (buffer === 0) throw new Failure('resource_limit', 'A picture needs more memory than there is.');
  try {
    module._FPDFImageObj_GetImageDataRaw(image, buffer, length);
    return Buffer.from(module.HEAPU8.subarray(buffer, buffer + length));
  } finally {
    module.wasmExports.free(buffer);
  }
}

/** The picture alone at its own size: masks, colour spaces and decoding are PDFium's. RGBA, not premultiplied. */
function renderImage(
  module: ContentModule,
  { document, page, object }: Handles & { object: number },
  { width, height }: { width: number; height: number },
  scratch: number,
): Buffer | undefined {
  module._FPDFPageObj_GetMatrix(object, scratch);
  const kept = floats(module, scratch, 6);
  module.HEAPF32.set([width, 0, 0, height, 0, 0], scratch / 4);
  module._FPDFPageObj_SetMatrix(object, scratch);
  const bitmap = module._FPDFImageObj_GetRenderedBitmap(document, page, object);
  module.HEAPF32.set(kept, scratch / 4);
  module._FPDFPageObj_SetMatrix(object, scratch);
  if (bitmap === 0) return undefined;
  try {
    return copyBitmap(module, bitmap, { width, height });
  } finally {
    module._FPDFBitmap_Destroy(bitmap);
  }
}

const bitmapChannels = [0, 1, 3, 4, 4, 4] as const;
const opaqueFormat = 3;
const premultipliedFormat = 5;

function copyBitmap(
  module: ContentModule,
  bitmap: number,
  size: { width: number; height: number },
): Buffer | undefined {
  const format = module._FPDFBitmap_GetFormat(bitmap);
  const channels = bitmapChannels[format] ?? 0;
  const stride = module._FPDFBitmap_GetStride(bitmap);
  const start = module._FPDFBitmap_GetBuffer(bitmap);
  const rows = module._FPDFBitmap_GetHeight(bitmap);
  const columns = module._FPDFBitmap_GetWidth(bitmap);
  if (channels === 0 || rows < size.height || columns < size.width) return undefined;
  const heap = module.HEAPU8;
  const pixels = Buffer.alloc(size.width * size.height * 4, 255);
  for (let y = 0, to = 0; y < size.height; y++) {
    for (let x = 0, from = start + y * stride; x < size.width; x++, to += 4, from += channels) {
      const alpha = channels === 4 && format !== opaqueFormat ? (heap[from + 3] ?? 255) : 255;
      const unscale = format === premultipliedFormat && alpha > 0 ? 255 / alpha : 1;
      pixels[to] = Math.min(255, (heap[from + (channels === 1 ? 0 : 2)] ?? 0) * unscale);
      pixels[to + 1] = Math.min(255, (heap[from + (channels === 1 ? 0 : 1)] ?? 0) * unscale);
      pixels[to + 2] = Math.min(255, (heap[from] ?? 0) * unscale);
      pixels[to + 3] = alpha;
    }
  }
  return pixels;
}
