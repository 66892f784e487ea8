import type { Log } from '@tessera/telemetry';
import type { Kafka, LogEntry } from 'kafkajs';

const CONNECT_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 10_000;

export interface KafkaAddress {
  readonly clientId: string;
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
}

/**
 * kafkajs, its lines in the service's log. It is made without a connection, and loaded only where
 * a broker is named.
 */
export async function kafkaClient({ clientId, brokers }: KafkaAddress, log: Log): Promise<Kafka> {
  const { Kafka, logLevel } = await import('kafkajs');
  return new Kafka({
    clientId,
    brokers: [...brokers],
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Whoever calls decides how often: see untilDone().
    retry: { retries: 2 },
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => writeLine(log, entry, entry.level === logLevel.ERROR),
  });
}

function writeLine(log: Log, { namespace, log: line }: LogEntry, isError: boolean): void {
  const { message, timestamp: _timestamp, logger: _logger, ...fields } = line;
  const text = `kafka ${namespace}: ${message}`;
  if (isError) log.error(fields, text);
  else log.warn(fields, text);
}
