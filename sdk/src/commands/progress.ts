import type { DownloadProgress } from '../save.ts';
import type { UploadProgress } from '../form.ts';
import type { StreamMessage } from '../types.ts';
import { formatBytes } from './text.ts';

/** Where progress is shown: a terminal, or a file or pipe. */
export interface Screen {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

/** What is under way: on a terminal one line that changes, elsewhere a line for each step and every few seconds. */
export interface Progress {
  upload(progress: UploadProgress): void;
  run(message: StreamMessage): void;
  download(filename: string, progress: DownloadProgress): void;
  /** Clears the line, for what follows it. */
  clear(): void;
}

const clearLine = '\r\u001b[2K';
/** Redrawing more often than a person sees only costs. */
const redrawMs = 80;
const nextLineMs = 5000;
/** A small file is there before it could be read about. */
const worthShowingBytes = 1_000_000;

export function createProgress(screen: Screen): Progress {
  const isTerminal = screen.isTTY === true;
  let shown = '';
  let shownStep = '';
  let writtenAt = -Infinity;

  function show(step: string, text: string, percent = 0): void {
    const isNew = step !== shownStep;
    const line = percent === 0 || (isNew && !isTerminal) ? text : `${text} ${percent}%`;
    const now = performance.now();
    if (line === shown || (!isNew && now - writtenAt < (isTerminal ? redrawMs : nextLineMs))) return;
    screen.write(isTerminal ? clearLine + line.slice(0, (screen.columns || 80) - 1) : `${line}\n`);
    shown = line;
    shownStep = step;
    writtenAt = now;
  }

  return {
    upload({ sentBytes, totalBytes }) {
      if (totalBytes === undefined || totalBytes < worthShowingBytes) show('upload', 'Uploading');
      else show('upload', `Uploading ${formatBytes(totalBytes)}`, percentOf(sentBytes, totalBytes));
    },
    run({ status, progress, queue_position: position }) {
      if (status === 'queued')
        show(`queued ${position}`, position === undefined ? 'Queued' : `Queued, position ${position}`);
      if (status === 'processing') show('processing', 'Processing', progress);
    },
    download(filename, { receivedBytes, totalBytes }) {
      if (totalBytes === undefined || totalBytes < worthShowingBytes) return;
      show(`download ${filename}`, `Downloading ${filename}`, percentOf(receivedBytes, totalBytes));
    },
    clear() {
      if (isTerminal && shown !== '') screen.write(clearLine);
      shown = '';
    },
  };
}

function percentOf(part: number, whole: number): number {
  return whole === 0 ? 100 : Math.floor((part / whole) * 100);
}
