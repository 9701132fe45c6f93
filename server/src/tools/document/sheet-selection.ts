import type { DocumentPart } from '../../engines/libreoffice.ts';
import { Failure } from '../../lib/failure.ts';
import { pageRangesProblem, selectPages } from '../page-ranges.ts';

/**
 * The sheets a setting names, as 0-based indexes in the order of the workbook. Parts are names (`Summary`), or numbers and
 * ranges (`1-3`) that count the sheets people see; a name goes before a number, and finds a hidden sheet too. `all` is
 * every sheet that is not hidden.
 *
 * @throws Failure `invalid_input` for a sheet that is not there.
 */
export function selectSheets(text: string, sheets: readonly DocumentPart[], file: string): number[] {
  const shown = [...sheets.keys()].filter((index) => sheets[index]?.shown === true);
  const named = findByName(text.trim(), sheets);
  if (named !== undefined) return [named];
  if (text.trim().toLowerCase() === 'all') return shown;
  const chosen = text.split(',').flatMap((part) => {
    const name = part.trim().replace(/^"(.*)"$/, '$1');
    const index = findByName(name, sheets);
    if (index !== undefined) return [index];
    if (pageRangesProblem(name) !== undefined) throw missing(name, sheets, file);
    return selectNumbers(name, shown, file);
  });
  return [...new Set(chosen)].toSorted((a, b) => a - b);
}

function findByName(name: string, sheets: readonly DocumentPart[]): number | undefined {
  const exact = sheets.findIndex((sheet) => sheet.name === name);
  const index = exact >= 0 ? exact : sheets.findIndex((sheet) => sheet.name.toLowerCase() === name.toLowerCase());
  return index >= 0 ? index : undefined;
}

function selectNumbers(range: string, shown: readonly number[], file: string): number[] {
  try {
    return selectPages(range, shown.length, file).map((number) => shown[number]!);
  } catch {
    const count = `${shown.length} ${shown.length === 1 ? 'sheet' : 'sheets'}`;
    throw new Failure('invalid_input', `There is no sheet "${range}": ${file} has ${count}.`, { file });
  }
}

function missing(name: string, sheets: readonly DocumentPart[], file: string): Failure {
  const names = sheets.slice(0, 20).map((sheet) => sheet.name);
  return new Failure('invalid_input', `There is no sheet "${name}" in ${file}; it has ${names.join(', ')}.`, { file });
}
