import { PDFBool, PDFDict, PDFHexString, PDFName, PDFRef, PDFString, type PDFContext } from '@cantoo/pdf-lib';
import { formOf, ownershipOf, type Copier } from './copy.ts';
import { arrayEntry, dictEntry, entry, isText, nameEntry, rawEntry, resolve, textOf } from './objects.ts';

/** A form field at the top of a form, copied, with what it needs of the form it came from. */
export interface FormField {
  ref: PDFRef;
  copier: Copier;
}

/** The top fields that show on the pages of a selection, in the order of the pages. */
export function collectFields(copier: Copier, pages: ReadonlyMap<PDFRef, PDFRef>): FormField[] {
  if (formOf(copier.file) === undefined) return [];
  const ownership = ownershipOf(copier.file);
  const tops = new Set<PDFRef>();
  for (const [annotation, page] of ownership.pageOfAnnotation) {
    const dict = resolve(copier.file.context, annotation);
    if (!pages.has(page) || !(dict instanceof PDFDict) || nameEntry(dict, 'Subtype') !== 'Widget') continue;
    tops.add(ownership.fieldsAbove.get(annotation)?.at(-1) ?? annotation);
  }
  return [...tops].flatMap((top) => {
    const ref = copier.copy(top);
    return ref instanceof PDFRef ? [{ ref, copier }] : [];
  });
}

/** Writes one form of all fields. Scripted (XFA) forms keep their fields and lose the script's own layer. */
export function createForm(target: PDFContext, catalog: PDFDict, fields: readonly FormField[]): void {
  if (fields.length === 0) return;
  const form = target.obj({ Fields: fields.map(({ ref }) => ref) });
  const resources = target.obj({});
  form.set(PDFName.of('DR'), resources);
  for (const copier of new Set(fields.map((field) => field.copier))) addForm(form, resources, copier, fields);
  makeNamesUnique(
    target,
    fields.map(({ ref }) => ref),
  );
  catalog.set(PDFName.of('AcroForm'), target.register(form));
}

function addForm(form: PDFDict, resources: PDFDict, copier: Copier, fields: readonly FormField[]): void {
  const source = formOf(copier.file);
  if (source === undefined) return;
  if (entry(source, 'NeedAppearances') === PDFBool.True) form.set(PDFName.of('NeedAppearances'), PDFBool.True);
  const renamed = addResources(resources, copier, source);
  const appearance = entry(source, 'DA');
  copier.finish();
  for (const field of fields) {
    if (field.copier !== copier) continue;
    const dict = resolve(copier.target, field.ref);
    if (!(dict instanceof PDFDict)) continue;
    // What the fields inherited from their own form must stand in the field once the forms are one.
    if (isText(appearance) && entry(dict, 'DA') === undefined) dict.set(PDFName.of('DA'), appearance);
    const alignment = rawEntry(source, 'Q');
    if (alignment !== undefined && entry(dict, 'Q') === undefined) dict.set(PDFName.of('Q'), copier.copy(alignment));
    visitFields(dict, (each) => adjustField(each, renamed));
  }
}

/** Fonts and other resources by kind and name; a name that is taken by something else gets a new one. */
function addResources(resources: PDFDict, copier: Copier, source: PDFDict): Map<string, string> {
  const renamed = new Map<string, string>();
  for (const [kind, value] of dictEntry(source, 'DR')?.entries() ?? []) {
    const theirs = resolve(copier.file.context, value);
    if (!(theirs instanceof PDFDict)) continue;
    const ours = dictEntry(resources, kind.decodeText()) ?? resources.context.obj({});
    resources.set(kind, ours);
    for (const [name, resource] of theirs.entries()) {
      const copied = copier.copy(resource);
      const free = freeName(ours, name.decodeText());
      if (ours.get(name)?.toString() === copied.toString()) continue;
      if (free !== name.decodeText() && kind === PDFName.of('Font')) renamed.set(name.decodeText(), free);
      ours.set(PDFName.of(free), copied);
    }
  }
  return renamed;
}

function freeName(dict: PDFDict, name: string): string {
  let candidate = name;
  for (let n = 1; dict.has(PDFName.of(candidate)); n++) candidate = `${name}-${n}`;
  return candidate;
}

function visitFields(field: PDFDict, visit: (field: PDFDict) => void): void {
  const seen = new Set<PDFDict>();
  const waiting = [field];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    visit(next);
    for (const kid of arrayEntry(next, 'Kids')?.asArray() ?? []) {
      const child = resolve(next.context, kid);
      if (child instanceof PDFDict) waiting.push(child);
    }
  }
}

function adjustField(field: PDFDict, renamed: ReadonlyMap<string, string>): void {
  // A signature signs the bytes of the file it was made in; here it could only show as broken.
  if (nameEntry(field, 'FT') === 'Sig') field.delete(PDFName.of('V'));
  const appearance = entry(field, 'DA');
  if (renamed.size === 0 || !isText(appearance)) return;
  const text = Buffer.from(appearance.asBytes()).toString('latin1');
  const adjusted = text.replaceAll(/\/([^\s/[\]()<>]+)/g, (whole, name: string) => {
    const other = renamed.get(name);
    return other === undefined ? whole : `/${other}`;
  });
  field.set(PDFName.of('DA'), PDFString.of(adjusted.replaceAll(/[\\()]/g, String.raw`\$&`)));
}

/** Two fields of one name would share their value. */
function makeNamesUnique(target: PDFContext, refs: readonly PDFRef[]): void {
  const taken = new Set<string>();
  for (const ref of refs) {
    const field = resolve(target, ref);
    if (!(field instanceof PDFDict)) continue;
    const name = textOf(entry(field, 'T')) ?? 'field';
    let candidate = name;
    for (let n = 1; taken.has(candidate); n++) candidate = `${name}-${n}`;
    taken.add(candidate);
    if (candidate !== textOf(entry(field, 'T'))) field.set(PDFName.of('T'), PDFHexString.fromText(candidate));
  }
}
