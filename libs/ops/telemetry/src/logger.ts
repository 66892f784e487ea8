import type { LoggerService } from '@nestjs/common';
import { type DestinationStream, pino } from 'pino';

export type LogFields = Readonly<Record<string, unknown>>;

/** The service's log: one JSON line per event. DI token. */
export abstract class Log {
  abstract debug(fields: LogFields, message: string): void;
  abstract info(fields: LogFields, message: string): void;
  abstract warn(fields: LogFields, message: string): void;
  abstract error(fields: LogFields, message: string): void;
}

const STDERR = 2;
/** Bytes of lines that wait for a full disk at most; further ones are lost. */
const WAITING_BYTES_MAX = 1 << 20;

/**
 * A log on a file that is open. A service serves on where its disk is full, until when lines wait,
 * and where its reader is gone.
 */
export function logDestination(file: number): DestinationStream {
  const stream = pino.destination({ dest: file, sync: true, maxLength: WAITING_BYTES_MAX });
  stream.on('error', () => undefined);
  return stream;
}

export function createLog(level: string, destination?: DestinationStream): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, destination ?? logDestination(STDERR));
}

/** Nest's own lines through the same log. Nest passes the context as the last argument. */
export class NestLog implements LoggerService {
  constructor(private readonly sink: Log) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.sink.debug(contextOf(rest), String(message));
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.sink.warn(contextOf(rest), String(message));
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.sink.error(contextOf(rest), String(message));
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.sink.debug(contextOf(rest), String(message));
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.sink.debug(contextOf(rest), String(message));
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.sink.error(contextOf(rest), String(message));
  }
}

function contextOf(rest: readonly unknown[]): LogFields {
  const context = rest.at(-1);
  const stack = rest.length > 1 ? rest[0] : undefined;
  return stack === undefined ? { context } : { context, stack };
}
