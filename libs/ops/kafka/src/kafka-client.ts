import { createRequire } from 'node:module';
import type { KafkaSecurity } from '@tessera/config';
import type { Log } from '@tessera/telemetry';
import type { Kafka, KafkaConfig, LogEntry, SASLOptions } from 'kafkajs';
import { decompression } from './codecs.js';

const CONNECT_TIMEOUT_MS = 3000;
const REQUEST_TIMEOUT_MS = 10_000;
/** New partitions of a topic are found after so long: kafkajs asks every five minutes. */
export const METADATA_MS = 15_000;

export interface KafkaAddress {
  readonly clientId: string;
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
  /** Left out: neither TLS nor SASL. */
  readonly security?: KafkaSecurity;
  /** Time limit of one request to a broker, in milliseconds; left out: 10,000. */
  readonly requestTimeoutMs?: number;
}

/** Security settings as kafkajs takes them. */
export function securedBy({ tls, sasl }: KafkaSecurity = {}): Pick<KafkaConfig, 'ssl' | 'sasl'> {
  return {
    // Both are asked at each handshake.
    ...(tls && { ssl: tls as NonNullable<KafkaConfig['ssl']> }),
    // Each mechanism is a type of its own there.
    ...(sasl && { sasl: sasl as SASLOptions }),
  };
}

interface RequestQueue {
  readonly throttledUntil: number;
  readonly pending: readonly unknown[];
  scheduleCheckPendingRequests(): void;
}

/** A queue of it sets a timer for a time in the past where nothing waits: Node warns of it. */
function quietenQueues(): void {
  const queue = createRequire(import.meta.url)('kafkajs/src/network/requestQueue/index.js');
  const own: RequestQueue = queue.prototype;
  const { scheduleCheckPendingRequests: schedule } = own;
  own.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0 || this.throttledUntil > Date.now()) schedule.call(this);
  };
}

let isLoaded = false;

/** kafkajs with all codecs of the protocol, loaded only where a broker is named. */
export async function loadKafka(): Promise<typeof import('kafkajs')> {
  // Only the whole of its CommonJS module has the codecs.
  const { default: kafka } = await import('kafkajs');
  const { CompressionCodecs: codecs, CompressionTypes: types } = kafka;
  codecs[types.GZIP] = decompression('gzip');
  codecs[types.Snappy] = decompression('snappy');
  codecs[types.LZ4] = decompression('lz4');
  codecs[types.ZSTD] = decompression('zstd');
  if (!isLoaded) quietenQueues();
  isLoaded = true;
  return kafka;
}

/** kafkajs, its lines in the service's log. It is made without a connection. */
export async function kafkaClient(
  { clientId, brokers, security, requestTimeoutMs = REQUEST_TIMEOUT_MS }: KafkaAddress,
  log: Log,
): Promise<Kafka> {
  const { Kafka, logLevel } = await loadKafka();
  return new Kafka({
    clientId,
    brokers: [...brokers],
    ...securedBy(security),
    connectionTimeout: CONNECT_TIMEOUT_MS,
    requestTimeout: requestTimeoutMs,
    // The caller decides the number of attempts: see untilDone().
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
