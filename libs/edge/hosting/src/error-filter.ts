import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import { errorBody, refusalPauseMs, TesseraError } from '@tessera/errors';
import type { Log } from '@tessera/telemetry';
import { MILLISECONDS_PER_SECOND } from '@tessera/units';
import type { FastifyReply } from 'fastify';

function statusOf(thrown: unknown): unknown {
  if (thrown instanceof HttpException) return thrown.getStatus();
  return (thrown as { statusCode?: unknown } | null)?.statusCode;
}

/** Errors of the HTTP server itself, in the words of the one table. */
export function fromServer(thrown: unknown): TesseraError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const status = statusOf(thrown);
  switch (status) {
    case 404:
      return new TesseraError('ROUTE_NOT_FOUND', message);
    case 413:
      return new TesseraError(
        'BODY_TOO_LARGE',
        'body: expected at most four times grpc.messageBytesMax bytes, got more',
        { field: 'body' },
      );
    case 415:
      return new TesseraError(
        'MEDIA_TYPE_UNSUPPORTED',
        'content-type: expected application/json, got something else',
        { field: 'content-type' },
      );
    default: {
      const isFaultOfCaller = typeof status === 'number' && status >= 400 && status < 500;
      return isFaultOfCaller
        ? new TesseraError('REQUEST_INVALID', message)
        : TesseraError.from(thrown);
    }
  }
}

/** Answers a failure as `{error: {code, message, field}}`. */
export function answerError(thrown: unknown, reply: FastifyReply, log: Pick<Log, 'error'>): void {
  const error = thrown instanceof TesseraError ? thrown : fromServer(thrown);
  if (error.code === 'INTERNAL') log.error({ err: thrown }, 'an HTTP handler failed');
  const pauseMs = refusalPauseMs(error);
  if (pauseMs === 0) send(error, reply);
  else setTimeout(() => send(error, reply), pauseMs);
}

function send(error: TesseraError, reply: FastifyReply): void {
  // A connection that is gone needs no answer.
  if (reply.raw.destroyed || reply.sent) return;
  if (error.retryAfterMs !== undefined) {
    reply.header('retry-after', Math.ceil(error.retryAfterMs / MILLISECONDS_PER_SECOND));
  }
  void reply.status(error.row.http).send(errorBody(error));
}

/** Every failure of a handler of Nest. */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Log) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    answerError(thrown, host.switchToHttp().getResponse<FastifyReply>(), this.log);
  }
}
