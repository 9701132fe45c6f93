import type { Run, StreamMessage, Submission } from '@millrun/sdk';
import { publicId } from '../lib/ids.ts';
import { actions } from './lifecycle.ts';
import type { Links } from './links.ts';
import type { RunRow } from './run-row.ts';

/** The row of a run as the API shows it, everywhere the same. */
export function viewRun(row: RunRow, links: Links, now: Date): Run {
  return {
    id: publicId('run', row.id),
    status: row.status,
    tool: row.tool,
    status_url: links.run(row.id),
    stream_url: links.stream(row.id),
    ...viewState(row, links),
    actions: actions({ status: row.status, unsafeUntil: row.unsafe_until }, now),
    settings: row.settings,
    inputs: row.inputs.map(({ filename, size_bytes }) => ({ filename, size_bytes })),
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    expires_at: row.files_removed ? null : (row.expires_at?.toISOString() ?? null),
  };
}

/** What changes while a run is followed: the message of the stream. */
export function viewMessage(row: RunRow, links: Links): StreamMessage {
  return { status: row.status, ...viewState(row, links) };
}

function viewState(row: RunRow, links: Links): Omit<StreamMessage, 'status'> {
  switch (row.status) {
    case 'queued':
      return row.queue_position === null ? {} : { queue_position: row.queue_position };
    case 'processing':
      return { progress: row.progress };
    case 'done':
      if (row.files_removed) return { outputs: [] };
      return { outputs: viewOutputs(row, links), archive_url: links.archive(row.id) };
    case 'failed':
      return {
        error: row.error ?? { code: 'internal', message: 'The run failed for a reason that was not recorded.' },
      };
  }
}

function viewOutputs(row: RunRow, links: Links): NonNullable<Run['outputs']> {
  return (row.outputs ?? []).map(({ filename, size_bytes, media_type, sha256 }, index) => ({
    filename,
    url: links.output(row.id, index, filename),
    size_bytes,
    media_type,
    sha256,
  }));
}

/** The 202 of a submission. */
export function viewSubmission(row: Pick<RunRow, 'id' | 'tool' | 'created_at'>, links: Links): Submission {
  return {
    id: publicId('run', row.id),
    status: 'queued',
    status_url: links.run(row.id),
    stream_url: links.stream(row.id),
    tool: row.tool,
    created_at: row.created_at.toISOString(),
  };
}
