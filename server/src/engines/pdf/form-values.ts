import { PDFArray, PDFBool, PDFDict, PDFHexString, PDFName, PDFNumber, type PDFObject } from '@cantoo/pdf-lib';
import { editDistance } from '../../lib/edit-distance.ts';
import { Failure } from '../../lib/failure.ts';
import { annotationsOf, formOf, linkFields } from './copy.ts';
import type { PdfFile } from './document.ts';
import { drawField } from './field-appearance.ts';
import { formFields, inheritedEntry } from './fields.ts';
import { arrayEntry, dictEntry, entry, isText, nameText, resolve, textOf } from './objects.ts';
import { openTypeface } from './typeface.ts';

/** Field flags of the standard. */
const flags = {
  readOnly: 1,
  required: 1 << 1,
  multiline: 1 << 12,
  radio: 1 << 15,
  pushButton: 1 << 16,
  combo: 1 << 17,
  edit: 1 << 18,
  multiSelect: 1 << 21,
};

export type FieldType = 'text' | 'checkbox' | 'radio' | 'dropdown' | 'list' | 'button' | 'signature';

/** What a field is asked to hold; null empties it. */
export type FieldValue = string | number | boolean | null | readonly (string | number)[];

/** A form field as people see it. */
export interface FieldReport {
  /** With the names of the fields above it: `address.city`. */
  name: string;
  type: FieldType;
  /** True or false for a box with one state; a list where several may be chosen; null for nothing. */
  value: string | boolean | string[] | null;
  /** The state of a box with one state when it is on. */
  on_state?: string;
  /** What may be chosen: the value, and the word that shows where it is another. */
  options?: { value: string; label: string }[];
  /** The first page it stands on, from 1; null when it stands on none. */
  page: number | null;
  required: boolean;
  read_only: boolean;
  multiline: boolean;
  max_length: number | null;
  /** What the form says of the field to those who fill it in. */
  description: string | null;
}

/** One field: all objects of its name, and every place on a page where it shows. */
interface Field {
  name: string;
  type: FieldType;
  flags: number;
  /** The objects that hold the value. */
  dicts: PDFDict[];
  widgets: PDFDict[];
}

interface Option {
  value: string;
  label: string;
}

/**
 * The fields of a file in the order of its form.
 *
 * @throws Failure `invalid_input` for a file that has none.
 */
export function readFields(file: PdfFile): FieldReport[] {
  const pageOf = pagesOfWidgets(file);
  return fieldsOf(file).map((field) => {
    const first = field.dicts[0];
    const options = optionsOf(file, field);
    const pages = field.widgets.flatMap((widget) => pageOf.get(widget) ?? []);
    return {
      name: field.name,
      type: field.type,
      value: valueOf(file, field),
      ...(isSimpleBox(field, options) ? { on_state: options[0]?.value ?? 'Yes' } : {}),
      ...(options.length === 0 || isSimpleBox(field, options) ? {} : { options }),
      page: pages.length === 0 ? null : Math.min(...pages) + 1,
      required: (field.flags & flags.required) !== 0,
      read_only: (field.flags & flags.readOnly) !== 0,
      multiline: field.type === 'text' && (field.flags & flags.multiline) !== 0,
      max_length: maxLengthOf(field) ?? null,
      description: (first && textOf(inheritedEntry(first, 'TU'))) ?? null,
    };
  });
}

/**
 * Fills fields in, in place. What changes is drawn anew, and the layer of scripted forms (XFA) goes, which would show
 * its own values.
 *
 * @param draw false when the caller makes the fields part of their pages, which draws them.
 * @throws Failure `invalid_input` for a name or value the form has no place for.
 */
export async function fillFields(
  file: PdfFile,
  values: Readonly<Record<string, FieldValue>>,
  { draw }: { draw: boolean },
): Promise<void> {
  if (entry(file.catalog, 'NeedsRendering') === PDFBool.True) {
    const message = `${file.filename} is a form that scripts draw (dynamic XFA): it has no fields that can be filled in.`;
    throw new Failure('invalid_input', message, { file: file.filename });
  }
  const fields = new Map(fieldsOf(file).map((field) => [field.name, field]));
  const changed = Object.entries(values).map(([name, value]) => {
    const field = fields.get(name);
    if (field === undefined) throw unknownField(file, name, [...fields.keys()]);
    setValue(file, field, value);
    return field;
  });
  formOf(file)?.delete(PDFName.of('XFA'));
  if (!draw) return;
  const typeface = await openTypeface(file.context);
  let drawn = 0;
  for (const widget of changed.flatMap((field) => field.widgets)) {
    if (dictEntry(widget, 'AP') !== undefined) continue; // A button, whose looks are all there.
    const look = drawField(file, widget, typeface);
    if (look === undefined) continue;
    const state = nameText(entry(widget, 'AS'));
    widget.set(PDFName.of('AP'), file.context.obj({ N: state === undefined ? look : { [state]: look } }));
    drawn++;
  }
  if (drawn > 0) typeface.finish();
}

/** Every field that holds or shows something; a part of a form without a type only groups others. */
function fieldsOf(file: PdfFile): Field[] {
  linkFields(file);
  const fields = new Map<string, Field>();
  const nameOf = new Map<PDFDict, string>();
  for (const dict of formFields(file)) {
    const parent = dictEntry(dict, 'Parent');
    const above = parent && nameOf.get(parent);
    const own = textOf(entry(dict, 'T'));
    const name = own === undefined ? above : above === undefined || above === '' ? own : `${above}.${own}`;
    nameOf.set(dict, name ?? '');
    const type = typeOf(dict);
    if (type === undefined || name === undefined || hasNamedKids(file, dict)) continue;
    const number = inheritedEntry(dict, 'Ff');
    const field = fields.get(name) ?? {
      name,
      type,
      flags: number instanceof PDFNumber ? number.asNumber() : 0,
      dicts: [],
      widgets: [],
    };
    fields.set(name, field);
    // Without a name of its own it only shows the field above it.
    if (own !== undefined) field.dicts.push(dict);
    if (arrayEntry(dict, 'Kids') === undefined) field.widgets.push(dict);
  }
  if (fields.size > 0) return [...fields.values()];
  throw new Failure('invalid_input', `${file.filename} has no form fields.`, { file: file.filename });
}

function hasNamedKids(file: PdfFile, dict: PDFDict): boolean {
  const kids = arrayEntry(dict, 'Kids')?.asArray() ?? [];
  return kids.some((kid) => {
    const child = resolve(file.context, kid);
    return child instanceof PDFDict && entry(child, 'T') !== undefined;
  });
}

function typeOf(dict: PDFDict): FieldType | undefined {
  const number = inheritedEntry(dict, 'Ff');
  const set = number instanceof PDFNumber ? number.asNumber() : 0;
  switch (nameText(inheritedEntry(dict, 'FT'))) {
    case 'Tx':
      return 'text';
    case 'Ch':
      return (set & flags.combo) === 0 ? 'list' : 'dropdown';
    case 'Sig':
      return 'signature';
    case 'Btn':
      return (set & flags.pushButton) !== 0 ? 'button' : (set & flags.radio) !== 0 ? 'radio' : 'checkbox';
    default:
      return undefined;
  }
}

function pagesOfWidgets(file: PdfFile): Map<PDFObject | undefined, number> {
  const pages = new Map<PDFObject | undefined, number>();
  for (const [index, page] of file.pages.entries()) {
    for (const annotation of annotationsOf(file, page)) {
      const dict = resolve(file.context, annotation);
      if (!pages.has(dict)) pages.set(dict, index);
    }
  }
  return pages;
}

function optionsOf(file: PdfFile, field: Field): Option[] {
  const first = field.dicts[0];
  const listed = first === undefined ? undefined : inheritedEntry(first, 'Opt');
  const words = listed instanceof PDFArray ? listed.asArray().map((each) => resolve(file.context, each)) : [];
  if (field.type === 'dropdown' || field.type === 'list') {
    return words.flatMap((word): Option[] => {
      const [value, label] =
        word instanceof PDFArray
          ? [word.get(0), word.get(1)].map((part) => textOf(resolve(file.context, part)))
          : [textOf(word)];
      return value === undefined ? [] : [{ value, label: label ?? value }];
    });
  }
  if (field.type !== 'radio' && field.type !== 'checkbox') return [];
  const options = new Map<string, Option>();
  for (const [index, widget] of field.widgets.entries()) {
    const value = onState(field, widget, index);
    if (!options.has(value)) options.set(value, { value, label: textOf(words[index]) ?? value });
  }
  return [...options.values()];
}

/** The state in which a button is on. One that does not say is named as most programs do. */
function onState({ type }: Field, widget: PDFDict, index: number): string {
  const looks = dictEntry(widget, 'AP');
  const states = looks && entry(looks, 'N');
  const named = states instanceof PDFDict ? states.keys().map((key) => key.decodeText()) : [];
  const own = named.find((name) => name !== 'Off') ?? nameText(entry(widget, 'AS'));
  if (own !== undefined && own !== 'Off') return own;
  return type === 'radio' ? String(index) : 'Yes';
}

function maxLengthOf({ type, dicts }: Field): number | undefined {
  const value = dicts[0] && inheritedEntry(dicts[0], 'MaxLen');
  return type === 'text' && value instanceof PDFNumber && value.asNumber() > 0 ? value.asNumber() : undefined;
}

function valueOf(file: PdfFile, field: Field): FieldReport['value'] {
  const first = field.dicts[0];
  const value = first && inheritedEntry(first, 'V');
  if (field.type === 'signature' || field.type === 'button') return null;
  if (field.type === 'checkbox' || field.type === 'radio') {
    const shown = field.widgets
      .map((widget) => nameText(entry(widget, 'AS')))
      .find((each) => each !== undefined && each !== 'Off');
    const state = nameText(value) ?? shown ?? 'Off';
    if (isSimpleBox(field, optionsOf(file, field))) return state !== 'Off';
    return state === 'Off' ? null : state;
  }
  if (value instanceof PDFArray) {
    return value.asArray().flatMap((each) => textOf(resolve(file.context, each)) ?? []);
  }
  return isText(value) ? (textOf(value) ?? null) : null;
}

/** A box that is on or off, not one of several of a name. */
function isSimpleBox({ type }: Field, options: readonly Option[]): boolean {
  return type === 'checkbox' && options.length < 2;
}

function setValue(file: PdfFile, field: Field, value: FieldValue): void {
  if ((field.flags & flags.readOnly) !== 0) throw refusal(file, field, 'is read-only');
  switch (field.type) {
    case 'text':
      setText(field, textFor(file, field, value));
      return;
    case 'checkbox':
    case 'radio':
      setState(field, stateFor(file, field, value));
      return;
    case 'dropdown':
    case 'list':
      setChoice(file, field, choiceFor(file, field, value));
      return;
    default:
      throw refusal(file, field, `is a ${field.type}, which holds no value`);
  }
}

function textFor(file: PdfFile, field: Field, value: FieldValue): string {
  if (value === null) return '';
  if (typeof value !== 'string' && typeof value !== 'number') throw refusal(file, field, 'takes a text or a number');
  const text = String(value);
  const longest = maxLengthOf(field);
  if (longest !== undefined && [...text].length > longest) {
    throw refusal(file, field, `takes at most ${longest} characters, not ${[...text].length}`);
  }
  if ((field.flags & flags.multiline) === 0 && /[\r\n]/.test(text)) throw refusal(file, field, 'takes one line');
  return text;
}

function stateFor(file: PdfFile, field: Field, value: FieldValue): string {
  const options = optionsOf(file, field);
  if (value === null || value === false || value === 'Off') return 'Off';
  if (value === true && field.type === 'checkbox' && options[0] !== undefined) return options[0].value;
  const found = findOption(options, value);
  if (found !== undefined) return found.value;
  const words = field.type === 'checkbox' ? ['true', 'false'] : [];
  throw refusal(file, field, `takes ${shownOptions([...words, ...options.map(labelled)])}`);
}

function choiceFor(file: PdfFile, field: Field, value: FieldValue): string[] {
  if (value === null) return [];
  const asked = Array.isArray(value) ? (value as readonly (string | number)[]) : [value];
  if (asked.length > 1 && (field.flags & flags.multiSelect) === 0) throw refusal(file, field, 'takes one option only');
  const options = optionsOf(file, field);
  const isFree = field.type === 'dropdown' && (field.flags & flags.edit) !== 0;
  return asked.map((each) => {
    const found = findOption(options, each as FieldValue);
    if (found !== undefined) return found.value;
    if (isFree && (typeof each === 'string' || typeof each === 'number')) return String(each);
    throw refusal(file, field, `takes ${shownOptions(options.map(labelled))}`);
  });
}

/** By its value or, where none has that, by the word that shows. */
function findOption(options: readonly Option[], value: FieldValue): Option | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  const asked = String(value);
  return options.find((option) => option.value === asked) ?? options.find((option) => option.label === asked);
}

function labelled({ value, label }: Option): string {
  return value === label ? value : `${value} (${label})`;
}

function shownOptions(words: readonly string[]): string {
  if (words.length === 0) return 'nothing: it has no options';
  const shown = words.slice(0, 20).join(', ');
  return words.length > 20 ? `one of ${shown} and ${words.length - 20} more` : `one of ${shown}`;
}

function setText({ dicts, widgets }: Field, text: string): void {
  for (const dict of dicts) {
    dict.set(PDFName.of('V'), PDFHexString.fromText(text));
    dict.delete(PDFName.of('RV')); // The same text with its looks, which would win.
  }
  forgetLooks(widgets);
}

function setState(field: Field, state: string): void {
  for (const dict of field.dicts) dict.set(PDFName.of('V'), PDFName.of(state));
  for (const [index, widget] of field.widgets.entries()) {
    const isOn = onState(field, widget, index) === state;
    widget.set(PDFName.of('AS'), PDFName.of(isOn ? state : 'Off'));
  }
}

function setChoice(file: PdfFile, field: Field, values: readonly string[]): void {
  const texts = values.map((value) => PDFHexString.fromText(value));
  const options = optionsOf(file, field).map(({ value }) => value);
  const indexes = values.map((value) => options.indexOf(value)).filter((index) => index >= 0);
  for (const dict of field.dicts) {
    if (texts.length === 0) dict.delete(PDFName.of('V'));
    else dict.set(PDFName.of('V'), texts.length === 1 && texts[0] ? texts[0] : file.context.obj(texts));
    dict.delete(PDFName.of('I'));
    const isList = (field.flags & flags.multiSelect) !== 0 && indexes.length > 0;
    if (isList) dict.set(PDFName.of('I'), file.context.obj(indexes.toSorted((a, b) => a - b)));
  }
  forgetLooks(field.widgets);
}

function forgetLooks(widgets: readonly PDFDict[]): void {
  for (const widget of widgets) widget.delete(PDFName.of('AP'));
}

function refusal({ filename }: PdfFile, { name }: Field, what: string): Failure {
  return new Failure('invalid_input', `The field "${name}" of ${filename} ${what}.`, { file: filename });
}

/** Names that a message lists at most, and that are compared with a wrong one. */
const shownNames = 12;
const comparedNames = 1000;

function unknownField({ filename }: PdfFile, name: string, known: readonly string[]): Failure {
  const nearest = known
    .slice(0, comparedNames)
    .map((each) => ({ each, distance: editDistance(name.slice(0, 100), each.slice(0, 100)) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  const listed = known.slice(0, shownNames).join(', ');
  const more = known.length > shownNames ? ` and ${known.length - shownNames} more` : '';
  const hint =
    nearest !== undefined && nearest.distance <= 3 ? `did you mean "${nearest.each}"?` : `it has ${listed}${more}.`;
  return new Failure('invalid_input', `${filename} has no field "${name.slice(0, 100)}"; ${hint}`, { file: filename });
}
