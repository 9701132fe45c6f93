import type { RunStatus } from '@millrun/sdk';
import type { ListQuery } from './run-list.ts';

/** What an entry of the tab's history keeps beside its address. */
export interface Trail {
  /** Cursors of the pages between the newest runs and this page, newest first. */
  trail: string[];
}

const statuses: readonly string[] = ['queued', 'processing', 'done', 'failed'] satisfies RunStatus[];

/** What an address of the list asks for; what it cannot mean is passed over. */
export function readAddress(search: URLSearchParams): ListQuery {
  const status = search.get('status') ?? '';
  const tool = search.get('tool') ?? '';
  const cursor = search.get('cursor') ?? '';
  return {
    ...(statuses.includes(status) && { status: status as RunStatus }),
    ...(tool !== '' && { tool }),
    ...(cursor !== '' && { cursor }),
  };
}

export function addressOf(query: { [key in keyof ListQuery]: ListQuery[key] | undefined }): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  return search === '' ? '/runs' : `/runs?${search}`;
}

interface Step {
  address: string;
  state: Trail | null;
}

/** Where the newer runs are; undefined where the newest ones are shown. Without a trail, only those are known. */
export function newerPage(query: ListQuery, trail: readonly string[]): Step | undefined {
  if (query.cursor === undefined) return undefined;
  const cursor = trail.at(-1);
  return {
    address: addressOf({ ...query, cursor }),
    state: cursor === undefined ? null : { trail: trail.slice(0, -1) },
  };
}

export function olderPage(query: ListQuery, trail: readonly string[], nextCursor: string | null): Step | undefined {
  if (nextCursor === null) return undefined;
  return {
    address: addressOf({ ...query, cursor: nextCursor }),
    state: { trail: query.cursor === undefined ? [] : [...trail, query.cursor] },
  };
}
