import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from '@millrun/sdk';
import { databaseUnavailable, isOutage } from '../lib/outage.ts';
import type { Log } from '../lib/log.ts';
import { AppError, errorCode, toError, validationFailed } from '../lib/errors.ts';

/** Errors of the framework and its plugins, by their code: status, our code, and a sentence. */
const frameworkErrors: Record<string, [status: number, code: string, message: string]> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    415,
    'unsupported_media_type',
    'This address does not take a body of that Content-Type.',
  ],
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'payload_too_large', 'The body is larger than the 64 kB this address takes.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: [400, 'malformed_json', 'The body is empty; it must be JSON.'],
  FST_ERR_CTP_INVALID_JSON_BODY: [400, 'malformed_json', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'bad_request', 'The body does not have the announced length.'],
  FST_ERR_MAX_PARAM_LENGTH: [404, 'not_found', 'There is nothing at this address.'],
  FST_ERR_BAD_URL: [400, 'bad_request', 'The address cannot be read.'],
  FST_PARTS_LIMIT: [413, 'payload_too_large', 'The form has too many parts.'],
  FST_FILES_LIMIT: [413, 'payload_too_large', 'The form has too many files.'],
  FST_FIELDS_LIMIT: [413, 'payload_too_large', 'The form has more than 64 fields.'],
  FST_PROTO_VIOLATION: [400, 'bad_request', 'The form has a field of a name that is not allowed.'],
  FST_INVALID_MULTIPART_CONTENT_TYPE: [400, 'not_multipart', 'The body must be multipart/form-data.'],
};

/** The one place that turns an error into a response. */
export function installErrorHandling(app: FastifyInstance): void {
  app.setErrorHandler((error: unknown, request, reply) => {
    const known = toAppError(error);
    if (known.status >= 500) request.log.error({ err: error, cause: known.cause }, known.message);
    return sendError(reply, request, known);
  });
}

export function sendError(reply: FastifyReply, request: FastifyRequest, error: AppError): FastifyReply {
  const body: ErrorBody = { code: error.code, message: error.message, request_id: request.id, ...error.body };
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(body));
}

export function newRequestId(): string {
  return randomBytes(9).toString('base64url');
}

/** What Node cannot read as HTTP, by its code: status line and what a person can do. */
const brokenRequests: Record<string, [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'The headers are larger than the 16 kB this server takes.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
};

/** Answers, in the one shape, what never became a request; then the connection ends. */
export function answerBrokenRequest(error: Error, socket: Socket, log: Log): void {
  const unreadable = ['400 Bad Request', 'bad_request', 'The request is not valid HTTP.'] as const;
  const [status, code, message] = brokenRequests[errorCode(error) ?? ''] ?? unreadable;
  if (socket.writable && errorCode(error) !== 'ECONNRESET') {
    const requestId = newRequestId();
    log.info({ reqId: requestId, err: error }, 'not a request');
    const body = JSON.stringify({ code, message, request_id: requestId } satisfies ErrorBody);
    const headers = [
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ];
    socket.write(`HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n${body}`);
  }
  socket.destroySoon();
}

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const { code, validation, statusCode, message } = error as Partial<FastifyError>;
  if (validation !== undefined) return fromValidation(error as FastifyError);
  const framework = code === undefined ? undefined : frameworkErrors[code];
  if (framework !== undefined) return new AppError(...framework);
  if (isOutage(error)) return databaseUnavailable(error);
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new AppError(statusCode, 'bad_request', message ?? 'The request cannot be read.');
  }
  return new AppError(500, 'internal_error', 'Something went wrong on our side; the request id helps to find it.', {
    cause: toError(error),
  });
}

/** A query or path that cannot be read is 400; a JSON body that breaks a rule is 422 with its fields. */
function fromValidation(error: FastifyError): AppError {
  const problems = (error.validation ?? []).map(({ instancePath, params, message }) => {
    const missing = params['missingProperty'] ?? params['additionalProperty'];
    const path = instancePath.slice(1).replaceAll('/', '.');
    const field = typeof missing === 'string' ? [path, missing].filter((part) => part !== '').join('.') : path;
    return { field: field === '' ? 'body' : field, message: message ?? 'is not valid' };
  });
  if (error.validationContext !== 'body') {
    const first = problems[0];
    return new AppError(
      400,
      'invalid_parameter',
      first === undefined ? 'A parameter is not valid.' : `${first.field} ${first.message}.`,
    );
  }
  const errors: Record<string, string[]> = {};
  for (const { field, message } of problems) (errors[field] ??= []).push(message);
  return validationFailed(errors);
}
