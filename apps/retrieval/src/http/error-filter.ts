import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { errorBody, TesseraError } from '@tessera/errors';
import type { Log } from '@tessera/telemetry';
import type { FastifyReply } from 'fastify';

const MILLISECONDS_PER_SECOND = 1000;

/** Errors of the HTTP server itself, in the words of the one table. */
function fromServer(thrown: unknown): TesseraError {
  const code = (thrown as { code?: unknown }).code;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    const message = 'body: expected at most http.bodyBytesMax bytes, came more';
    return new TesseraError('BODY_TOO_LARGE', message, { field: 'body' });
  }
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE' || code === 'FST_ERR_CTP_INVALID_TYPE') {
    const message = 'content-type: expected application/json';
    return new TesseraError('MEDIA_TYPE_UNSUPPORTED', message, { field: 'content-type' });
  }
  const status =
    thrown instanceof HttpException
      ? thrown.getStatus()
      : (thrown as { statusCode?: unknown }).statusCode;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (status === 404) return new TesseraError('ROUTE_NOT_FOUND', message);
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return new TesseraError('REQUEST_INVALID', message);
  }
  return TesseraError.from(thrown);
}

/** Every failure of an HTTP request as `{error: {code, message, field}}`. */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const error = thrown instanceof TesseraError ? thrown : fromServer(thrown);
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (error.code === 'INTERNAL') this.log.error({ err: thrown }, 'an HTTP handler failed');
    // Nobody reads the answer of a connection that is gone.
    if (reply.raw.destroyed || reply.sent) return;
    if (error.retryAfterMs !== undefined) {
      reply.header('retry-after', Math.ceil(error.retryAfterMs / MILLISECONDS_PER_SECOND));
    }
    void reply.status(error.row.http).send(errorBody(error));
  }
}
