import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Run, StreamMessage, Submission } from '@millrun/sdk';

/** A file of a form: a path, or bytes with a name. */
export type FormFile = string | { filename: string; content: Uint8Array | string };

/** The API as a client sees it, one method a call; every reply is handed on whole. */
export interface Client {
  request(path: string, init?: RequestInit): Promise<Response>;
  submit(
    tool: string,
    files: readonly FormFile[],
    settings?: Record<string, string>,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Submits and returns the 202's body; throws with the reply's text for anything else. */
  accepted(tool: string, files: readonly FormFile[], settings?: Record<string, string>): Promise<Submission>;
  /** The run once it is terminal; throws after a minute. */
  finished(id: string): Promise<Run>;
  /** Every message of the run's stream, until the server closes it. */
  messages(id: string): Promise<StreamMessage[]>;
}

export function createClient(base: string, token: string): Client {
  const request = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    headers.set('Authorization', `Bearer ${token}`);
    return fetch(path.startsWith('http') ? path : base + path, { ...init, headers });
  };
  const submit: Client['submit'] = async (tool, files, settings = {}, headers = {}) =>
    request(`/tools/${tool}`, { method: 'POST', body: await toForm(files, settings), headers });
  return {
    request,
    submit,
    async accepted(tool, files, settings) {
      const response = await submit(tool, files, settings);
      if (response.status !== 202) throw new Error(`${response.status}: ${await response.text()}`);
      return (await response.json()) as Submission;
    },
    async finished(id) {
      const run = (await (await request(`/runs/${id}?wait=60`)).json()) as Run;
      if (run.status !== 'done' && run.status !== 'failed') throw new Error(`${id} is still ${run.status}`);
      return run;
    },
    async messages(id) {
      const response = await request(`/runs/${id}/stream`, { headers: { Accept: 'text/event-stream' } });
      const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
      return lines.map((line) => JSON.parse(line.slice('data: '.length)) as StreamMessage);
    },
  };
}

async function toForm(files: readonly FormFile[], settings: Record<string, string>): Promise<FormData> {
  const form = new FormData();
  for (const file of files) {
    const { filename, content } =
      typeof file === 'string' ? { filename: basename(file), content: await readFile(file) } : file;
    form.append('files[]', new Blob([content]), filename);
  }
  for (const [name, value] of Object.entries(settings)) form.append(name, value);
  return form;
}
