/** The functions of PDFium that make annotations part of a page. */
export interface AnnotationModule {
  readonly HEAPF32: Float32Array;
  wasmExports: { malloc(size: number): number; free(pointer: number): void };
  _FORM_OnAfterLoadPage(page: number, form: number): void;
  _FORM_OnBeforeClosePage(page: number, form: number): void;
  _FPDF_GetPageBoundingBox(page: number, box: number): number;
  _FPDFPage_GetAnnotCount(page: number): number;
  _FPDFPage_GetAnnot(page: number, index: number): number;
  _FPDFPage_CloseAnnot(annotation: number): void;
  _FPDFAnnot_GetSubtype(annotation: number): number;
  _FPDFPage_Flatten(page: number, usage: number): number;
  _FPDFPage_SetMediaBox(page: number, left: number, bottom: number, right: number, top: number): void;
  _FPDFPage_SetCropBox(page: number, left: number, bottom: number, right: number, top: number): void;
}

/** Links and the windows of comments: they draw nothing that belongs to the page. */
const undrawn = new Set([2, 16]);
/** A page with more of them is looked at no further. */
const maxLookedAt = 10_000;
const asDisplayed = 0;

/** True when fields, stamps, notes or the like stand on an open page. */
export function hasDrawnAnnotations(module: AnnotationModule, page: number): boolean {
  const count = Math.min(maxLookedAt, module._FPDFPage_GetAnnotCount(page));
  for (let index = 0; index < count; index++) {
    const annotation = module._FPDFPage_GetAnnot(page, index);
    if (annotation === 0) continue;
    const subtype = module._FPDFAnnot_GetSubtype(annotation);
    module._FPDFPage_CloseAnnot(annotation);
    if (!undrawn.has(subtype)) return true;
  }
  return false;
}

/**
 * Makes what the annotations of an open page show part of its content, in memory; they are gone then, links too. The page
 * has to be closed and loaded again to see it.
 */
export function flattenAnnotations(module: AnnotationModule, page: number, form: number): void {
  // Fields and marks that do not say how they look are given a look when the form learns of the page.
  if (form !== 0) module._FORM_OnAfterLoadPage(page, form);
  const box = boundingBox(module, page);
  // PDFium takes a box that the page inherits for a missing one, and would make it a page of US Letter.
  module._FPDFPage_SetMediaBox(page, ...box);
  module._FPDFPage_Flatten(page, asDisplayed);
  module._FPDFPage_SetMediaBox(page, ...box);
  module._FPDFPage_SetCropBox(page, ...box);
  if (form !== 0) module._FORM_OnBeforeClosePage(page, form);
}

function boundingBox(module: AnnotationModule, page: number): [number, number, number, number] {
  const pointer = module.wasmExports.malloc(16);
  try {
    module._FPDF_GetPageBoundingBox(page, pointer);
    const [left = 0, top = 0, right = 0, bottom = 0] = module.HEAPF32.subarray(pointer / 4, pointer / 4 + 4);
    return [left, bottom, right, top];
  } finally {
    module.wasmExports.free(pointer);
  }
}
