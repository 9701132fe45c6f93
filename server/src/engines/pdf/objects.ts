import {
  PDFArray,
  PDFDict,
  PDFHexString,
  PDFName,
  PDFNumber,
  PDFRef,
  PDFStream,
  PDFString,
  type PDFContext,
  type PDFObject,
} from '@cantoo/pdf-lib';

/** A reference that leads to a reference leads at most this far; longer chains are loops. */
const maxReferenceHops = 16;

/** What a value is after following references; undefined for a missing object or a loop. */
export function resolve(context: PDFContext, value: PDFObject | undefined): PDFObject | undefined {
  let current = value;
  for (let hops = 0; current instanceof PDFRef; hops++) {
    if (hops === maxReferenceHops) return undefined;
    current = context.lookup(current);
  }
  return current;
}

/** The entry of a dictionary, references followed. */
export function entry(dict: PDFDict, key: string): PDFObject | undefined {
  return resolve(dict.context, dict.get(PDFName.of(key)));
}

/** The entry as it stands: a reference stays one. */
export function rawEntry(dict: PDFDict, key: string): PDFObject | undefined {
  return dict.get(PDFName.of(key));
}

export function dictEntry(dict: PDFDict, key: string): PDFDict | undefined {
  const value = entry(dict, key);
  return value instanceof PDFDict ? value : undefined;
}

export function arrayEntry(dict: PDFDict, key: string): PDFArray | undefined {
  const value = entry(dict, key);
  return value instanceof PDFArray ? value : undefined;
}

export function streamEntry(dict: PDFDict, key: string): PDFStream | undefined {
  const value = entry(dict, key);
  return value instanceof PDFStream ? value : undefined;
}

/** The text of a name, without the slash. */
export function nameEntry(dict: PDFDict, key: string): string | undefined {
  return nameText(entry(dict, key));
}

export function nameText(value: PDFObject | undefined): string | undefined {
  return value instanceof PDFName ? value.decodeText() : undefined;
}

export function numberEntry(dict: PDFDict, key: string): number | undefined {
  const value = entry(dict, key);
  return value instanceof PDFNumber ? value.asNumber() : undefined;
}

/** The numbers of an array, or undefined when it holds anything else. */
export function numbersOf(context: PDFContext, array: PDFArray | undefined): number[] | undefined {
  if (array === undefined) return undefined;
  const numbers: number[] = [];
  for (const element of array.asArray()) {
    const value = resolve(context, element);
    if (!(value instanceof PDFNumber)) return undefined;
    numbers.push(value.asNumber());
  }
  return numbers;
}

export function isText(value: PDFObject | undefined): value is PDFString | PDFHexString {
  return value instanceof PDFString || value instanceof PDFHexString;
}

/** A text string as people read it; undecodable bytes never throw. */
export function textOf(value: PDFObject | undefined): string | undefined {
  if (!isText(value)) return undefined;
  try {
    return value.decodeText();
  } catch {
    return Buffer.from(value.asBytes()).toString('latin1');
  }
}

/** A string or name as a key of a name tree: its bytes, one character each. */
export function keyOf(value: PDFObject | undefined): string | undefined {
  if (isText(value)) return Buffer.from(value.asBytes()).toString('latin1');
  return nameText(value);
}

/** The leaves of a name or number tree (`Names` or `Nums`), at most `limit`; loops are cut. */
export function treeLeaves(
  root: PDFDict | undefined,
  leaves: 'Names' | 'Nums',
  limit = 200_000,
): [PDFObject, PDFObject][] {
  const found: [PDFObject, PDFObject][] = [];
  const seen = new Set<PDFDict>();
  const waiting = root === undefined ? [] : [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (seen.has(node) || found.length >= limit) continue;
    seen.add(node);
    const pairs = arrayEntry(node, leaves)?.asArray() ?? [];
    for (let index = 0; index + 1 < pairs.length; index += 2) {
      const [key, value] = [resolve(node.context, pairs[index]), pairs[index + 1]];
      if (key !== undefined && value !== undefined) found.push([key, value]);
    }
    for (const kid of (arrayEntry(node, 'Kids')?.asArray() ?? []).toReversed()) {
      const child = resolve(node.context, kid);
      if (child instanceof PDFDict) waiting.push(child);
    }
  }
  return found;
}
