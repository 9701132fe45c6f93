import type { FileTypeId } from '../lib/media-types.ts';
import type { TextSample } from './text-sample.ts';

/** Text formats with a beginning of their own: subtitles, e-mails, patches. Looked for before tables and JSON. */
export function markedTextType({ head }: TextSample): FileTypeId | undefined {
  const start = head.slice(0, markLooked).replace(/\r\n?/g, '\n').trimStart();
  if (isWebVtt(head)) return 'vtt';
  if (isSubRip(start)) return 'srt';
  if (isSubStation(start)) return 'ass';
  if (isMicroDvd(start)) return 'sub';
  if (isPatch(start)) return 'patch';
  return isMail(start) ? 'eml' : undefined;
}

/** Characters of the beginning that are looked at. */
const markLooked = 16 * 1024;

function isWebVtt(head: string): boolean {
  return /^WEBVTT(?=[ \t\r\n]|$)/.test(head);
}

/** A number, and a line with two times and an arrow. */
function isSubRip(start: string): boolean {
  const time = String.raw`\d{1,3}:\d{1,2}:\d{1,2}[,.]\d{1,3}`;
  return new RegExp(String.raw`^\d{1,6}[ \t]*\n+[ \t]*${time}[ \t]*-+>[ \t]*${time}`).test(start);
}

function isSubStation(start: string): boolean {
  const lines = start.split('\n', 50).filter((line) => !/^\s*(;|!|$)/.test(line));
  if (!/^\[Script Info\]\s*$/i.test(lines[0] ?? '')) return false;
  return /^(ScriptType|Title|PlayRes[XY]|WrapStyle|Original\w*|Collisions|\[)/im.test(lines.slice(1).join('\n'));
}

/** Lines that begin with two frame numbers in braces. */
function isMicroDvd(start: string): boolean {
  const lines = start.split('\n', 6).filter((line) => line.trim() !== '');
  if (lines.length > 1 && start.length === markLooked) lines.pop();
  return lines.length > 0 && lines.every((line) => /^\{\d+\}\{\d*\}/.test(line));
}

/** A patch begins as one of the programs that write it does; a page that only quotes one does not. */
function isPatch(start: string): boolean {
  const unified = /^--- \S.*\n\+\+\+ \S.*\n@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m;
  const context = /^\*\*\* \S.*\n--- \S.*\n\*{15}/m;
  if (/^(--- |\*\*\* )/.test(start)) return start.search(unified) === 0 || start.search(context) === 0;
  if (/^diff --git \S/.test(start)) return true;
  const announced = /^(diff |Index: |Only in |# HG changeset patch|(From|commit) [0-9a-f]{40}\b)/.test(start);
  return announced && (unified.test(start) || context.test(start) || /^diff --git \S/m.test(start));
}

const mailFields = new Set(
  (
    'from to cc bcc subject date message-id mime-version received return-path delivered-to reply-to sender ' +
    'content-type content-transfer-encoding in-reply-to references dkim-signature authentication-results x-mailer ' +
    'list-id list-unsubscribe user-agent thread-topic importance'
  ).split(' '),
);
/** Fields without which nobody's letters travel; notes that only look like a header rarely have two of them. */
const mailMarks = new Set(['from', 'received', 'return-path', 'message-id', 'mime-version', 'date', 'subject', 'to']);

/** A header as RFC 5322 has it, from the first line to the first blank one, with fields that only mail has. */
function isMail(start: string): boolean {
  const text = start.replace(/^From \S+ .*\n/, ''); // A mailbox of the mbox kind.
  const end = text.indexOf('\n\n');
  const lines = (end < 0 ? text : text.slice(0, end)).split('\n');
  if (end < 0 && start.length >= markLooked / 2) lines.pop();
  const names = lines.map((line) => /^([\x21-\x39\x3b-\x7e]+)[ \t]*:/.exec(line)?.[1]?.toLowerCase());
  const isHeader = lines.every((line, index) => names[index] !== undefined || (index > 0 && /^[ \t]|^$/.test(line)));
  if (!isHeader) return false;
  const known = new Set(names.filter((name) => name !== undefined && mailFields.has(name)));
  const marks = [...known].filter((name) => name !== undefined && mailMarks.has(name));
  const travelled = ['received', 'return-path', 'message-id', 'mime-version'].some((name) => known.has(name));
  return marks.length >= 2 && (travelled || (known.has('from') && (known.has('date') || known.has('subject'))));
}
