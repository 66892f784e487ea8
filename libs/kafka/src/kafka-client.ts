import type { Log } from '@tessera/telemetry';
import { Kafka, type LogEntry, logLevel } from 'kafkajs';

const CONNECT_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 10_000;

export interface KafkaAddress {
  readonly clientId: string;
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
}

/** kafkajs, its lines in the service's log. It is made without a connection. */
export function kafkaClient({ clientId, brokers }: KafkaAddress, log: Log): Kafka {
  return new Kafka({
    clientId,
    brokers: [...brokers],
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Whoever calls decides how often: see untilDone().
    retry: { retries: 2 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => writeLine(log, entry),
  });
}

function writeLine(log: Log, { namespace, level, log: line }: LogEntry): void {
  const { message, timestamp: _timestamp, logger: _logger, ...fields } = line;
  const text = `kafka ${namespace}: ${message}`;
  if (level === logLevel.ERROR) log.error(fields, text);
  else log.warn(fields, text);
}
