import { createHash, type Hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { MultipartFile, MultipartValue } from '@fastify/multipart';
import type { Plan } from '../accounts/plans.ts';
import type { StoredInput } from '../db/schema.ts';
import { cleanFilename } from '../files/names.ts';
import { createSampler } from '../files/content-sample.ts';
import { sniff } from '../files/sniff.ts';
import type { FileStore } from '../files/store.ts';
import { AppError, badRequest, errorCode } from '../lib/errors.ts';
import type { Uuid } from '../lib/ids.ts';
import { inputKey } from '../runs/runs.ts';

/** Form fields besides files; a tool has far fewer settings. */
const mostFields = 64;
/** Largest text field: room for a list of page ranges or passwords by file. */
const largestFieldBytes = 64 * 1024;
/** RFC 2046 allows 70 characters. */
const longestBoundary = 70;

export interface Upload {
  inputs: (StoredInput & { type: Awaited<ReturnType<typeof sniff>> })[];
  /** Every value of every text field, in the order they came. */
  form: Map<string, string[]>;
  /** SHA-256 over fields and files, when it was asked for. */
  fingerprint: Buffer | undefined;
}

interface UploadOptions {
  runId: Uuid;
  plan: Plan;
  /** Undefined: the bytes are only looked at, for a request that was answered before. */
  store: FileStore | undefined;
  withFingerprint: boolean;
}

/**
 * Streams each part of `files[]` to the store as it arrives, counting as it passes; nothing is held in memory. Whoever
 * calls removes what was stored when this throws.
 *
 * @throws AppError 400 for what is no readable form, 413 at the first byte over a limit.
 */
export async function receiveUpload(request: FastifyRequest, options: UploadOptions): Promise<Upload> {
  checkContentType(request);
  const counter = createCounter(options.plan);
  counter.announce(Number(request.headers['content-length'] ?? 0));
  const digest = options.withFingerprint ? createHash('sha256') : undefined;
  const upload: Upload = { inputs: [], form: new Map(), fingerprint: undefined };
  try {
    for await (const part of request.parts({
      limits: {
        fields: mostFields,
        fieldSize: largestFieldBytes,
        fileSize: Infinity,
        files: Infinity,
        parts: Infinity,
      },
    })) {
      if (part.type === 'file')
        upload.inputs.push(await receiveFile(part, upload.inputs.length, { ...options, counter, digest }));
      else receiveField(part, upload.form, digest);
    }
  } catch (error) {
    throw toUploadError(error, request);
  }
  upload.fingerprint = digest?.digest();
  return upload;
}

function checkContentType(request: FastifyRequest): void {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b/i.test(type))
    throw badRequest('not_multipart', 'The body must be multipart/form-data.');
  const boundary = /;\s*boundary=(?:"([^"]*)"|([^;\s]*))/i.exec(type);
  const length = (boundary?.[1] ?? boundary?.[2] ?? '').length;
  if (length < 1 || length > longestBoundary)
    throw badRequest('malformed_multipart', 'The multipart boundary is missing or too long.');
}

interface FileOptions extends UploadOptions {
  counter: Counter;
  digest: Hash | undefined;
}

async function receiveFile(
  part: MultipartFile,
  index: number,
  options: FileOptions,
): Promise<Upload['inputs'][number]> {
  const { counter, digest, store, runId } = options;
  if (part.fieldname !== 'files[]' && part.fieldname !== 'files') {
    throw badRequest(
      'unknown_file_field',
      `Files are sent in the form field files[], not "${part.fieldname.slice(0, 40)}".`,
    );
  }
  counter.beginFile();
  const filename = cleanFilename(part.filename);
  const sampler = createSampler();
  const content = digest === undefined ? undefined : createHash('sha256');
  const watched = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of part.file as AsyncIterable<Uint8Array>) {
      counter.add(chunk.length);
      sampler.push(chunk);
      content?.update(chunk);
      yield chunk;
    }
  };
  const key = inputKey(runId, index);
  if (store === undefined) await drain(watched());
  else await store.put(key, watched());
  digest?.update(JSON.stringify(['file', filename, content?.digest('hex')]));
  const sample = sampler.sample();
  return { filename, size_bytes: sample.size, type: await sniff(sample), key };
}

async function drain(source: AsyncIterable<unknown>): Promise<void> {
  for await (const chunk of source) void chunk;
}

function receiveField(part: MultipartValue, form: Map<string, string[]>, digest: Hash | undefined): void {
  if (part.valueTruncated || part.fieldnameTruncated) {
    throw new AppError(413, 'payload_too_large', `A form field may have at most ${largestFieldBytes} bytes.`);
  }
  const value = typeof part.value === 'string' ? part.value : String(part.value);
  form.set(part.fieldname, [...(form.get(part.fieldname) ?? []), value]);
  digest?.update(JSON.stringify(['field', part.fieldname, value]));
}

interface Counter {
  /** The body's announced length: a request that cannot fit is refused before it is read. */
  announce(bytes: number): void;
  beginFile(): void;
  add(bytes: number): void;
}

/** What a form adds around its files at most, in bytes. */
const formOverhead = mostFields * largestFieldBytes;

function createCounter(plan: Plan): Counter {
  let files = 0;
  let fileBytes = 0;
  let runBytes = 0;
  const over = (value: number, limit: number) => limit > 0 && value > limit;
  return {
    announce(bytes) {
      if (over(bytes - formOverhead, plan.maxRunBytes))
        throw tooLarge(`A run may have at most ${plan.maxRunBytes} bytes of files`);
    },
    beginFile() {
      files += 1;
      fileBytes = 0;
      if (over(files, plan.maxFiles)) throw tooLarge(`A run may have at most ${plan.maxFiles} files`);
    },
    add(bytes) {
      fileBytes += bytes;
      runBytes += bytes;
      if (over(fileBytes, plan.maxFileBytes)) throw tooLarge(`A file may have at most ${plan.maxFileBytes} bytes`);
      if (over(runBytes, plan.maxRunBytes)) throw tooLarge(`A run may have at most ${plan.maxRunBytes} bytes of files`);
    },
  };
}

function tooLarge(limit: string): AppError {
  return new AppError(413, 'payload_too_large', `${limit} in your plan.`);
}

/** What the parser throws for a form it cannot read is the client's mistake; a storage that fails is ours. */
function toUploadError(error: unknown, request: FastifyRequest): unknown {
  if (error instanceof AppError) return error;
  const code = errorCode(error);
  if (code?.startsWith('FST_') === true) return error;
  if (request.raw.aborted || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new AppError(400, 'upload_aborted', 'The upload ended before the form was complete.', { cause: error });
  }
  if (error instanceof Error && 'syscall' in error) return error;
  return new AppError(400, 'malformed_multipart', 'The multipart body cannot be read.', { cause: error });
}
