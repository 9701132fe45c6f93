import type { RunError } from '@millrun/sdk';
import type { FileTypeId } from '../../src/lib/media-types.ts';
import type { FormFile } from '../client.ts';
import type { Facts } from './opinions/opinion.ts';

/** One output of a run, as the second program sees it. */
export interface Seen extends Facts {
  filename: string;
  mediaType: string;
  /** Where it lies for a closer look. */
  path: string;
}

type Expected = (outputs: readonly Seen[], type: FileTypeId | undefined) => unknown;

/**
 * What the suite must know of a tool that its definition does not say. Everything else (types, settings, their edges) is
 * read from the registry.
 */
export interface ToolCase {
  /** Sent with every run unless the run is about that very setting: what is required, and what makes it quick. */
  settings?: Record<string, string>;
  /** Further settings for an accepted type; `undefined` is the run without a file. */
  settingsFor?(type: FileTypeId | undefined): Record<string, string>;
  /** The files of a run for an accepted type; the sample of the type, as often as the tool needs files, unless told. */
  files?(type: FileTypeId | undefined): readonly FormFile[];
  /** Files to send instead of the sample of a type. */
  replaces?: Partial<Record<FileTypeId, FormFile>>;
  /** Looks closer at the outputs of a run with `settings` alone; `type` is the accepted type that was sent. */
  expect?: Expected;
  /** Types that are accepted only to be told what is wrong with them, and how. */
  refuses?: Partial<Record<FileTypeId, RunError['code']>>;
  /**
   * Values to run beside those the schema gives (the ends of a number, every choice, both flags): free texts need some. An
   * empty list for a setting that `settings` already shows at work.
   */
  values?: Record<string, readonly string[]>;
  /** Settings that need others: sent along when it is the one on trial. */
  together?: Record<string, Record<string, string>>;
  /** Values that rightly end in an error with these files, as `setting=value`: why. */
  fails?: Record<string, string>;
  /** Values left out because they only cost time here, as `setting=value`: why. */
  skips?: Record<string, string>;
}

/** One entry for every tool of a category. */
export type Cases = Record<string, ToolCase>;
