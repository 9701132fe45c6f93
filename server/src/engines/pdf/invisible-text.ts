import { PDFDict, PDFName, PDFRawStream, PDFRef, type PDFContext } from '@cantoo/pdf-lib';
import { endOfInlineImage, endOfString } from './content.ts';
import type { PdfFile } from './document.ts';
import { dictEntry, nameEntry, resolve } from './objects.ts';
import { decodeStream, pageContent } from './streams.ts';

/** Operators that show text, and the rendering mode in which they leave no ink. */
const showing = new Set(['Tj', 'TJ', "'", '"']);
const invisibleMode = 3;
/** A graphics state nested deeper exists only in hostile files. */
const maxStates = 1000;
const maxForms = 20_000;

/** Takes away the invisible text of a page, as an earlier text recognition left it, also within its forms. */
export function removeInvisibleText(file: PdfFile, pageRef: PDFRef, seen: Set<PDFRef>): void {
  const page = resolve(file.context, pageRef);
  if (!(page instanceof PDFDict)) return;
  const content = pageContent(page);
  const visible = content === undefined ? undefined : withoutInvisibleText(content);
  if (visible !== undefined) page.set(PDFName.of('Contents'), file.context.register(file.context.flateStream(visible)));
  cleanForms(file.context, dictEntry(page, 'Resources'), seen);
}

function cleanForms(context: PDFContext, resources: PDFDict | undefined, seen: Set<PDFRef>): void {
  const objects = resources && dictEntry(resources, 'XObject');
  for (const ref of objects?.values() ?? []) {
    if (!(ref instanceof PDFRef) || seen.has(ref) || seen.size > maxForms) continue;
    seen.add(ref);
    const form = resolve(context, ref);
    if (!(form instanceof PDFRawStream) || nameEntry(form.dict, 'Subtype') !== 'Form') continue;
    const content = decodeStream(form);
    const visible = content === undefined ? undefined : withoutInvisibleText(content);
    if (visible !== undefined) context.assign(ref, rewritten(context, form, visible));
    cleanForms(context, dictEntry(form.dict, 'Resources'), seen);
  }
}

function rewritten(context: PDFContext, form: PDFRawStream, content: Uint8Array): PDFRawStream {
  const stream = context.flateStream(content);
  const dict = form.dict.clone(context);
  dict.delete(PDFName.of('DecodeParms'));
  dict.set(PDFName.of('Filter'), PDFName.of('FlateDecode'));
  return PDFRawStream.of(dict, stream.getContents());
}

/** The content without what shows text invisibly; undefined when there is none of it. */
export function withoutInvisibleText(content: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(content);
  const kept: Buffer[] = [];
  const modes: number[] = [];
  let mode = 0;
  let keptTo = 0;
  for (const { operator, start, end, operands } of operations(bytes.toString('latin1'))) {
    if (operator === 'q' && modes.length < maxStates) modes.push(mode);
    else if (operator === 'Q') mode = modes.pop() ?? mode;
    else if (operator === 'Tr') mode = Number(operands.at(-1) ?? 0);
    else if (mode === invisibleMode && showing.has(operator)) {
      kept.push(bytes.subarray(keptTo, start), Buffer.from('\n'));
      keptTo = end;
    }
  }
  if (keptTo === 0) return undefined;
  kept.push(bytes.subarray(keptTo));
  return Buffer.concat(kept);
}

interface Operation {
  operator: string;
  /** Plain operands only: numbers and names. */
  operands: string[];
  /** From the first operand to behind the operator. */
  start: number;
  end: number;
}

const tokenPattern = /%[^\r\n]*|\(|<<|>>|<[0-9A-Fa-f\s]*>|[[\]{}<>]|\/[^\s()<>[\]{}/%]*|[^\s()<>[\]{}/%]+/g;

function* operations(text: string): Generator<Operation> {
  const pattern = new RegExp(tokenPattern);
  let operands: string[] = [];
  let start: number | undefined;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const token = match[0];
    if (token.startsWith('%')) continue;
    start ??= match.index;
    if (token === '(') pattern.lastIndex = endOfString(text, pattern.lastIndex);
    else if (/^[+-.\d/]/.test(token)) operands.push(token);
    else if (!/^[<>[\]{}]/.test(token)) {
      if (token === 'ID') pattern.lastIndex = endOfInlineImage(text, pattern.lastIndex);
      yield { operator: token, operands, start, end: pattern.lastIndex };
      operands = [];
      start = undefined;
    }
  }
}
