export interface SampleField {
  name: string;
  value: string;
  /** Comes from the environment, so that it is in no file and no history. */
  secret: boolean;
}

export interface SampleRun {
  /** Where the service is: `https://files.example.com`. */
  origin: string;
  slug: string;
  /** Names of files in the directory where it is run. */
  files: readonly string[];
  fields: readonly SampleField[];
}

export const languages = [
  { id: 'curl', label: 'curl' },
  { id: 'typescript', label: 'TypeScript' },
  { id: 'python', label: 'Python' },
] as const;
export type Language = (typeof languages)[number]['id'];

/** A run can also be one command of Millrun's own command line. */
export const sampleLanguages = [...languages, { id: 'cli', label: 'CLI' }] as const;
export type SampleLanguage = (typeof sampleLanguages)[number]['id'];

const writers: Readonly<Record<SampleLanguage, (run: SampleRun) => string>> = {
  curl: writeCurl,
  typescript: writeTypeScript,
  python: writePython,
  cli: writeCommand,
};

/**
 * A whole program that submits this run, waits for its end and saves its outputs in a directory named after the run, so
 * that no input is overwritten. The token comes from MILLRUN_TOKEN. Any text is safe as a value or a name.
 */
export function writeSample(language: SampleLanguage, run: SampleRun): string {
  return writers[language](run);
}

/** The environment variable of a secret setting: `MILLRUN_PASSWORD`. */
export function variableOf(name: string): string {
  return `MILLRUN_${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}

function writeCurl({ origin, slug, files, fields }: SampleRun): string {
  const parts = [
    ...fields.map(({ name, value, secret }) =>
      secret
        ? `--form-string ${shell(`${name}=`)}"$${variableOf(name)}"`
        : `--form-string ${shell(`${name}=${value}`)}`,
    ),
    // curl reads a quoted name with its own escapes, inside those of the shell.
    ...files.map((name) => `--form ${shell(`files[]=@"./${name.replace(/[\\"]/g, '\\$&')}"`)}`),
  ];
  return `api=${shell(`${origin}/api/v2`)}
auth="Authorization: Bearer $MILLRUN_TOKEN"

# Submit the run.
reply=$(curl -sS "$api/tools/${slug}" -H "$auth"${parts.map((part) => ` \\\n  ${part}`).join('')})
run=$(printf '%s' "$reply" | grep -o '"id":"run_[0-9a-z]*"' | cut -d '"' -f 4)

# Wait until it has ended.
while [ -n "$run" ]; do
  reply=$(curl -sS "$api/runs/$run?wait=60" -H "$auth") || break
  case $reply in
    *'"status":"queued"'* | *'"status":"processing"'*) ;;
    *) break ;;
  esac
done

# Save what it made in a directory of its own, or say why there is nothing.
case $reply in
  *'"status":"done"'*)
    mkdir -p "$run"
    printf '%s' "$reply" | grep -o '"url":"[^"]*"' | cut -d '"' -f 4 |
      # By its own name, or as it is in the address where another file has that name already.
      while read -r url; do (cd "$run" && curl -fsOJ "$url" || curl -fsSO "$url"); done
    ls "$run"
    ;;
  *) printf '%s\\n' "$reply" >&2 && false ;;
esac
`;
}

function writeTypeScript({ origin, slug, files, fields }: SampleRun): string {
  const parts = fields.map(({ name, value, secret }) => {
    const text = secret ? `process.env.${variableOf(name)} ?? ''` : quote(value);
    return `form.append(${quote(name)}, ${text});`;
  });
  const upload = `for (const name of [${list(files, quote)}]) {
  form.append('files[]', await openAsBlob(name), name);
}`;
  return `// Node.js 24: node run.ts
${files.length === 0 ? '' : "import { openAsBlob } from 'node:fs';\n"}import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const api = ${quote(`${origin}/api/v2`)};
const headers = { Authorization: \`Bearer \${process.env.MILLRUN_TOKEN}\` };

interface Run {
  id: string;
  status: 'queued' | 'processing' | 'done' | 'failed';
  outputs?: { filename: string; url: string }[];
  error?: { code: string; message: string };
}

async function ask(path: string, init: RequestInit = {}): Promise<Run> {
  const response = await fetch(api + path, { ...init, headers });
  if (!response.ok) throw new Error(\`\${response.status}: \${await response.text()}\`);
  return (await response.json()) as Run;
}

const form = new FormData();
${[...parts, ...(files.length === 0 ? [] : [upload])].join('\n')}

let run = await ask(${quote(`/tools/${slug}`)}, {
  method: 'POST',
  body: form,
  redirect: 'error', // Otherwise Node keeps a copy of all it sends.
});
while (run.status === 'queued' || run.status === 'processing') {
  run = await ask(\`/runs/\${run.id}?wait=60\`);
}
if (run.error !== undefined) throw new Error(run.error.message);

await mkdir(run.id, { recursive: true });
for (const { filename, url } of run.outputs ?? []) {
  const download = await fetch(url);
  if (!download.ok || download.body === null) throw new Error(\`\${filename}: \${download.status}\`);
  await writeFile(join(run.id, filename), download.body);
  console.log(join(run.id, filename));
}
`;
}

function writePython({ origin, slug, files, fields }: SampleRun): string {
  const parts = [
    ...fields.map(({ name, value, secret }) => {
      const text = secret ? `os.environ.get(${double(variableOf(name))}, "")` : double(value);
      return `(${double(name)}, (None, ${text})),`;
    }),
    ...files.map((name) => `("files[]", (${double(name)}, open(${double(name)}, "rb"))),`),
  ];
  return `# Python 3.8 or newer: pip install requests
import os
import pathlib
import sys

import requests

api = ${double(`${origin}/api/v2`)}
session = requests.Session()
session.headers["Authorization"] = "Bearer " + os.environ["MILLRUN_TOKEN"]


def read(reply):
    if not reply.ok:
        sys.exit(f"{reply.status_code}: {reply.text}")
    return reply.json()


form = [${parts.map((part) => `\n    ${part}`).join('')}${parts.length === 0 ? '' : '\n'}]
run = read(session.post(api + ${double(`/tools/${slug}`)}, files=form))
while run["status"] in ("queued", "processing"):
    run = read(session.get(f"{api}/runs/{run['id']}", params={"wait": 60}))
if run["status"] == "failed":
    sys.exit(run["error"]["message"])

folder = pathlib.Path(run["id"])
folder.mkdir(exist_ok=True)
for output in run["outputs"]:
    with requests.get(output["url"], stream=True) as download:
        download.raise_for_status()
        with open(folder / output["filename"], "wb") as file:
            for chunk in download.iter_content(1 << 20):
                file.write(chunk)
    print(folder / output["filename"])
`;
}

function writeCommand({ origin, slug, files, fields }: SampleRun): string {
  const parts = [
    ...fields.map(({ name, value, secret }) =>
      secret ? `--set ${shell(`${name}=`)}"$${variableOf(name)}"` : `--set ${shell(`${name}=${value}`)}`,
    ),
    '--out results',
    ...files.map((name) => shell(`./${name}`)),
  ];
  return `# In the directory of Millrun's checkout.
export MILLRUN_URL=${shell(origin)}
npx millrun run ${slug}${parts.map((part) => ` \\\n  ${part}`).join('')}
`;
}

function list(values: readonly string[], write: (value: string) => string): string {
  const written = values.map(write);
  const line = written.join(', ');
  return line.length <= 70 ? line : `\n${written.map((value) => `  ${value},`).join('\n')}\n`;
}

/** For a POSIX shell: nothing is special within single quotes but the quote itself. */
export function shell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A JSON string is one of JavaScript, and of Python, with the same escapes. */
function double(text: string): string {
  return JSON.stringify(text);
}

/** For JavaScript, in single quotes. */
export function quote(text: string): string {
  const inner = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`);
  return `'${inner}'`;
}
