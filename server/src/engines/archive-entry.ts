export interface ArchiveEntry {
  /** Unique in the archive; `/` between directories. */
  name: string;
  path: string;
  sizeBytes: number;
  /** It has no content. */
  isDirectory?: boolean;
  /** When the content was changed; without it the same moment for all. */
  modified?: Date | undefined;
  /** Permission bits. */
  mode?: number | undefined;
}

export interface ArchiveOptions {
  /** 0 (store) to 9 (smallest). */
  level: number;
  password?: string | undefined;
  signal: AbortSignal;
}

/** Names for entries: one segment each, a clash (also by case, for disks that do not tell it apart) gets `-1`, `-2`, … */
export function entryNames(filenames: readonly string[]): string[] {
  const taken = new Set<string>();
  return filenames.map((filename) => {
    const plain = filename.replaceAll(/[/\\]/g, '_');
    const segment = /^\.*$/.test(plain) ? 'file' : plain;
    const [, stem = segment, extension = ''] = /^(.+?)((?:\.tar)?\.[^.]*)?$/su.exec(segment) ?? [];
    let name = segment;
    for (let n = 1; taken.has(name.toLowerCase()); n++) name = `${stem}-${n}${extension}`;
    taken.add(name.toLowerCase());
    return name;
  });
}
