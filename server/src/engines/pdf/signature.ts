import { randomBytes } from 'node:crypto';
import { PDFArray, PDFDict, PDFHexString, PDFName, PDFNumber, PDFRef, type PDFObject } from '@cantoo/pdf-lib';
import { Failure } from '../../lib/failure.ts';
import { annotationsOf, createCopier, formOf } from './copy.ts';
import type { PdfFile } from './document.ts';
import { formFields, signedFields } from './fields.ts';
import { arrayEntry, dictEntry, entry, numberEntry, rawEntry, textOf } from './objects.ts';
import { pageDict, pageFrame, setRectangle, shownToPage, transformed } from './page-frame.ts';
import { drawnMark, pageMark, stampPage } from './stamp.ts';
import { writeObject } from './write.ts';

/** A picture on a page: points from the lower left corner of what the reader sees, as high as its proportions want. */
export interface PlacedPicture {
  picture: PdfFile;
  x: number;
  y: number;
  width: number;
}

/** @throws Failure `invalid_input` when the picture would not be on the page. */
function placed(file: PdfFile, page: number, { picture, x, y, width }: PlacedPicture) {
  const mark = pageMark(0, createCopier(picture, file.context, new Map(), new Map()));
  const frame = pageFrame(file, page);
  const area = { left: x, bottom: y, right: x + width, top: y + (width * mark.height) / mark.width };
  if (area.right <= frame.width && area.top <= frame.height) return { mark, area, frame };
  const size = `${Math.round(frame.width)} x ${Math.round(frame.height)}`;
  const message = `The image does not fit there: page ${page + 1} of ${file.filename} is ${size} points large.`;
  throw new Failure('invalid_input', message, { file: file.filename });
}

/** Draws a picture on a page, 0-based. */
export function stampPicture(file: PdfFile, page: number, options: PlacedPicture): void {
  const { mark, area } = placed(file, page, options);
  const scale = options.width / mark.width;
  stampPage(file, page, { mark, place: [scale, 0, 0, scale, area.left, area.bottom], layer: 'over' });
}

export interface SignatureOptions {
  /** 0-based. */
  page: number;
  picture: PlacedPicture | undefined;
  name: string;
  reason: string | undefined;
  now: Date;
  /** Bytes to keep free for the signature. */
  size: number;
  /** Signs what the two parts hold. */
  sign(parts: readonly Uint8Array[]): Buffer;
}

/** @throws Failure `invalid_input` for a file whose signatures would not survive another one. */
export function refuseUnsignable(file: PdfFile): void {
  const refuse = (why: string) => new Failure('invalid_input', `${file.filename} ${why}`, { file: file.filename });
  if (signedFields(file).length > 0 && file.wasEncrypted) {
    throw refuse('is signed and encrypted: another signature would break the first.');
  }
  const permissions = dictEntry(file.catalog, 'Perms');
  const certified = permissions && dictEntry(permissions, 'DocMDP');
  const reference = certified && arrayEntry(certified, 'Reference')?.lookupMaybe(0, PDFDict);
  const parameters = reference && dictEntry(reference, 'TransformParams');
  if (certified !== undefined && (parameters && numberEntry(parameters, 'P')) === 1) {
    throw refuse('is certified so that nothing may be changed, not even signed.');
  }
}

/**
 * Appends a signature to a file: what stands there stays byte for byte, so that earlier signatures hold.
 *
 * @param bytes the file as `file` was read from it.
 */
export async function appendSignature(file: PdfFile, bytes: Buffer, options: SignatureOptions): Promise<Buffer> {
  const { context } = file;
  const firstNew = context.largestObjectNumber + 1;
  const signature = context.nextRef();
  const changed = addField(file, signature, options);
  const isNew = (ref: PDFRef) => ref.objectNumber >= firstNew;
  const objects = context.enumerateIndirectObjects().filter(([ref]) => isNew(ref) || changed.has(ref));

  const chunks: Buffer[] = [bytes, Buffer.from('\n')];
  let length = bytes.length + 1;
  const write = (chunk: Uint8Array): Promise<void> => {
    chunks.push(Buffer.from(chunk));
    length += chunk.length;
    return Promise.resolve();
  };
  const places: { ref: PDFRef; offset: number }[] = [];
  for (const [ref, object] of objects) {
    places.push({ ref, offset: length });
    await writeObject(write, ref.objectNumber, ref.generationNumber, object);
  }
  places.push({ ref: signature, offset: length });
  const value = signatureValue(signature, options);
  const start = length + value.head.length;
  await write(Buffer.concat([value.head, value.room, value.tail]));
  await write(crossReference(file, bytes, places, length));

  const whole = Buffer.concat(chunks);
  const end = start + value.room.length;
  const range = `[0 ${start} ${end} ${whole.length - end}]`;
  whole.write(range.padEnd(rangeLength), whole.indexOf(rangeRoom, start - value.head.length));
  const signed = options.sign([whole.subarray(0, start), whole.subarray(end)]);
  if (signed.length > options.size) throw new RangeError(`a signature of ${signed.length} bytes`);
  whole.write(signed.toString('hex'), start + 1);
  return whole;
}

const rangeLength = 50;
const rangeRoom = `[${'*'.repeat(rangeLength - 2)}]`;

/** The dictionary of a signature, in three parts: the one in the middle is not signed. */
function signatureValue(ref: PDFRef, { name, reason, now, size }: SignatureOptions) {
  const text = (value: string) => PDFHexString.fromText(value).toString();
  const date = `D:${now.toISOString().replaceAll(/\D/g, '').slice(0, 14)}Z`;
  const entries = [
    '/Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached',
    `/M (${date}) /Name ${text(name)}`,
    ...(reason === undefined ? [] : [`/Reason ${text(reason)}`]),
    `/ByteRange ${rangeRoom}`,
  ];
  return {
    head: Buffer.from(`${ref.objectNumber} 0 obj\n<< ${entries.join('\n')}\n/Contents `),
    room: Buffer.from(`<${'00'.repeat(size)}>`),
    tail: Buffer.from(' >>\nendobj\n'),
  };
}

/** Adds the field; returns the objects that were changed for it. */
function addField(file: PdfFile, signature: PDFRef, { page, picture }: SignatureOptions): Set<PDFRef> {
  const { context, catalog } = file;
  const pageRef = file.pages[page];
  const root = context.trailerInfo.Root;
  if (pageRef === undefined || !(root instanceof PDFRef)) throw new RangeError(`no page ${page}`);
  const widget = context.obj({
    Type: 'Annot',
    Subtype: 'Widget',
    FT: 'Sig',
    T: PDFHexString.fromText(freeName(file)),
    V: signature,
    P: pageRef,
    F: 4 + 128, // To be printed, and locked.
    Rect: [0, 0, 0, 0],
  });
  if (picture !== undefined) showPicture(file, page, widget, picture);
  const ref = context.register(widget);
  pageDict(file, page).set(PDFName.of('Annots'), appended(file, annotationsOf(file, pageRef), ref));
  const formRef = rawEntry(catalog, 'AcroForm');
  const form = formOf(file) ?? context.obj({});
  form.set(PDFName.of('Fields'), appended(file, arrayEntry(form, 'Fields')?.asArray() ?? [], ref));
  form.set(PDFName.of('SigFlags'), PDFNumber.of(3));
  const isReference = formRef instanceof PDFRef && entry(catalog, 'AcroForm') instanceof PDFDict;
  if (!isReference) catalog.set(PDFName.of('AcroForm'), form);
  return new Set([pageRef, isReference ? formRef : root]);
}

function showPicture(file: PdfFile, page: number, widget: PDFDict, picture: PlacedPicture): void {
  const { mark, area, frame } = placed(file, page, picture);
  const place = shownToPage(frame);
  setRectangle(widget, 'Rect', transformed(area, place));
  const look = drawnMark(file.context, mark, '/M Do', { XObject: { M: mark.form } });
  // Upright for the reader, however the page is turned.
  const [a, b, c, d] = place;

  const stream = file.context.lookup(look.form) as unknown as { dict: PDFDict };
  stream.dict.set(PDFName.of('Matrix'), file.context.obj([a, b, c, d, 0, 0]));
  widget.set(PDFName.of('AP'), file.context.obj({ N: look.form }));
}

function freeName(file: PdfFile): string {
  const taken = new Set([...formFields(file)].map((field) => textOf(entry(field, 'T'))));
  for (let number = 1; ; number++) if (!taken.has(`Signature${number}`)) return `Signature${number}`;
}

function appended(file: PdfFile, values: readonly PDFObject[], ref: PDFRef): PDFArray {
  const array = PDFArray.withContext(file.context);
  for (const value of [...values, ref]) array.push(value);
  return array;
}

/** In the form the file has before, which readers want. @throws Failure `invalid_input` */
function crossReference(
  file: PdfFile,
  bytes: Buffer,
  written: readonly { ref: PDFRef; offset: number }[],
  offset: number,
): Buffer {
  const { context, filename } = file;
  const tail = bytes.toString('latin1', Math.max(0, bytes.length - 2048));
  const previous = Number(/startxref\s+(\d{1,12})(?![\s\S]*startxref)/.exec(tail)?.[1] ?? 'NaN');
  const head = Number.isNaN(previous) ? '' : bytes.toString('latin1', previous, previous + 40);
  const isTable = /^\s*xref/.test(head);
  if (!isTable && !/^\s*\d+\s+\d+\s+obj/.test(head)) {
    const message = `${filename} is signed and damaged: nothing can be added without breaking its signatures.`;
    throw new Failure('invalid_input', message, { file: filename });
  }
  const { Root, Info, ID } = context.trailerInfo;
  const first =
    ID instanceof PDFArray && ID.size() === 2 ? ID.get(0).toString() : `<${randomBytes(16).toString('hex')}>`;
  const own = PDFRef.of(context.largestObjectNumber + 1);
  const places = isTable ? [...written] : [...written, { ref: own, offset }];
  places.sort((a, b) => a.ref.objectNumber - b.ref.objectNumber);
  const trailer = [
    `/Size ${isTable ? own.objectNumber : own.objectNumber + 1} /Root ${String(Root)} /Prev ${previous}`,
    `/ID [${first} <${randomBytes(16).toString('hex')}>]`,
    ...(Info === undefined ? [] : [`/Info ${String(Info)}`]),
  ].join(' ');
  const end = `\nstartxref\n${offset}\n%%EOF\n`;
  if (isTable) {
    const rows = places.map(
      ({ ref, offset: at }) =>
        `${ref.objectNumber} 1\n${String(at).padStart(10, '0')} ${String(ref.generationNumber).padStart(5, '0')} n \n`,
    );
    return Buffer.from(`xref\n${rows.join('')}trailer\n<< ${trailer} >>${end}`);
  }
  const rows = places.map(({ ref, offset: at }) => {
    const row = Buffer.alloc(7);
    row.writeUInt8(1, 0);
    row.writeUInt32BE(at, 1);
    row.writeUInt16BE(ref.generationNumber, 5);
    return row;
  });
  const index = places.map(({ ref }) => `${ref.objectNumber} 1`).join(' ');
  const data = Buffer.concat(rows);
  const dict = `<< /Type /XRef /W [1 4 2] /Index [${index}] ${trailer} /Length ${data.length} >>`;
  return Buffer.concat([
    Buffer.from(`${own.objectNumber} 0 obj\n${dict}\nstream\n`),
    data,
    Buffer.from(`\nendstream\nendobj${end}`),
  ]);
}
