import type { Tool } from '@millrun/sdk';
import { useMemo, useState } from 'react';
import type { ApiError } from '../../api.ts';
import { judgeFile, judgeFiles, type FileLimits, type FileVerdict, type PickedFile } from './file-rules.ts';
import { toSentence } from './labels.ts';
import {
  fieldsToSend,
  problemsOf,
  readSettings,
  startValues,
  valuesOfRun,
  type FormValues,
  type Setting,
} from './settings.ts';
import type { Order } from './submit-run.ts';

/** What is wrong, as sentences; nothing is wrong where there is no entry. */
interface Problems {
  files: string | undefined;
  byFile: Readonly<Record<string, string>>;
  bySetting: Readonly<Record<string, string>>;
  /** What the service says of something the form does not have. */
  loose: readonly string[];
}

const noProblems: Problems = { files: undefined, byFile: {}, bySetting: {}, loose: [] };

export interface ToolForm {
  settings: readonly Setting[];
  values: FormValues;
  files: readonly PickedFile[];
  problems: Problems;
  /** Counts the times that something was refused: then the first problem gets the focus. */
  refusals: number;
  /** Something differs from the defaults. */
  changed: boolean;
  addFiles(files: readonly File[]): void;
  setFiles(files: readonly PickedFile[]): void;
  setValue(name: string, value: NonNullable<FormValues[string]>): void;
  reset(): void;
  verdictOf(file: PickedFile): FileVerdict | undefined;
  fields(): [string, string][];
  /** The order for the service, or undefined when something is certainly wrong, which is then shown. */
  check(): Omit<Order, 'key'> | undefined;
  /** Shows what the service refused at the files and settings it is about. */
  refuse(order: Order, error: ApiError, unreadable: readonly number[]): void;
}

let nextId = 1;

/** The files and settings of one tool, and what is wrong with them. `given` are the settings of a run to begin with. */
export function useToolForm(
  tool: Tool,
  limits: FileLimits | undefined,
  given: Readonly<Record<string, unknown>> | undefined,
): ToolForm {
  const settings = useMemo(() => readSettings(tool), [tool]);
  const [values, setValues] = useState(() =>
    given === undefined ? startValues(settings) : valuesOfRun(settings, given),
  );
  const [files, setFiles] = useState<readonly PickedFile[]>([]);
  const [problems, setProblems] = useState(noProblems);
  const [refusals, setRefusals] = useState(0);
  const fields = () =>
    fieldsToSend(
      settings,
      values,
      files.map(({ id }) => id),
    );
  const show = (found: Problems) => {
    setProblems(found);
    setRefusals((count) => count + 1);
  };
  const changeFiles = (next: readonly PickedFile[]) => {
    setFiles(next);
    setProblems((before) => ({ ...before, files: undefined }));
  };
  const rawFiles = files.map(({ file }) => file);
  // Too many is worth saying at once; too few only when they are sent.
  const tooMuch = files.length > tool.min_files ? judgeFiles(tool, limits, rawFiles) : undefined;

  return {
    settings,
    values,
    files,
    problems: { ...problems, files: problems.files ?? tooMuch },
    refusals,
    changed: fields().length > 0,
    addFiles: (added) => {
      const picked = added.map((file) => ({ id: `file-${nextId++}`, file }));
      changeFiles(tool.max_files === 1 ? picked.slice(-1) : [...files, ...picked]);
    },
    setFiles: changeFiles,
    setValue: (name, value) => {
      setValues((before) => ({ ...before, [name]: value }));
      setProblems((before) => ({ ...before, bySetting: without(before.bySetting, name) }));
    },
    reset: () => {
      setValues(startValues(settings));
      setProblems((before) => ({ ...before, bySetting: {} }));
    },
    verdictOf: ({ id, file }) => {
      const refused = problems.byFile[id];
      return refused === undefined ? judgeFile(tool, limits, file) : { level: 'error', text: refused };
    },
    fields,
    check: () => {
      const found: Problems = {
        ...noProblems,
        files: judgeFiles(tool, limits, rawFiles),
        bySetting: toSentences(problemsOf(settings, values)),
      };
      const wrongFile = files.some(({ file }) => judgeFile(tool, limits, file)?.level === 'error');
      if (found.files !== undefined || wrongFile || Object.keys(found.bySetting).length > 0) {
        show(found);
        return undefined;
      }
      setProblems(noProblems);
      return { slug: tool.slug, fields: fields(), files: rawFiles, fileIds: files.map(({ id }) => id) };
    },
    refuse: (order, error, unreadable) => show(readRefusal(settings, order, error, unreadable)),
  };
}

function without<T>(entries: Readonly<Record<string, T>>, name: string): Record<string, T> {
  const { [name]: _removed, ...rest } = entries;
  return rest;
}

function toSentences(problems: Readonly<Record<string, readonly string[]>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(problems).map(([name, rules]) => [name, rules.map(toSentence).join(' ')] as const),
  );
}

/** Puts each error of a reply to the file or setting it is about, whatever the form looks like meanwhile. */
export function readRefusal(
  settings: readonly Pick<Setting, 'name'>[],
  { fileIds }: Pick<Order, 'fileIds'>,
  { body }: Pick<ApiError, 'body'>,
  unreadable: readonly number[],
): Problems {
  const gone = unreadable.map((index) => [fileIds[index] ?? '', 'This file can no longer be read. Add it again.']);
  const byFile: Record<string, string> = Object.fromEntries(gone);
  const bySetting: Record<string, string> = {};
  const loose: string[] = [];
  let ofFiles: string | undefined;
  for (const [field, text] of Object.entries(toSentences(body.errors ?? {}))) {
    const fileId = fileIds[Number(/^files\.(\d+)$/.exec(field)?.[1] ?? -1)];
    if (fileId !== undefined) byFile[fileId] = text;
    else if (field === 'files') ofFiles = text;
    else if (settings.some(({ name }) => name === field)) bySetting[field] = text;
    else loose.push(`“${field}”: ${text}`);
  }
  return { files: ofFiles, byFile, bySetting, loose };
}
