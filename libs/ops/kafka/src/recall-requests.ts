import {
  protoSchema,
  recallEventsPackage,
  type WireRecallAnswered,
  type WireRecallRequest,
  type WireRecallRequested,
} from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { Lane } from '@tessera/turns';
import type { RecordBatch } from './batch-server.js';
import { MessageCodec } from './message-codec.js';
import type { RecordProducer } from './record-producer.js';
import { checkKey, checkVersion, RECORD_HEADERS, type TopicRecord } from './topic-record.js';
import { wireRefusal } from './wire-refusal.js';

/** Version of the records of both topics. */
const PAYLOAD_VERSION = '1';
/** Length of a request ID in characters. */
const REQUEST_ID_LENGTH_MAX = 128;
/** Requests of all partitions that are asked at once: a few forward passes. */
const ASKED_AT_ONCE_MAX = 64;

const ANSWERED = new MessageCodec<WireRecallAnswered>(
  protoSchema,
  `${recallEventsPackage}.RecallAnswered`,
);

/** A recall that was asked for on the topic. */
export interface TopicRecall {
  readonly record: TopicRecord;
  readonly requested: WireRecallRequested;
  /** Milliseconds since 1970 until which the answer is of use. */
  readonly untilMs: number;
  /**
   * Request ID of a recall that names none: its correlation ID, so that a request that is served
   * twice has one ID in both answers. '': the correlation ID is none that a recall takes.
   */
  readonly requestId: string;
}

export interface RecallRequestParts {
  readonly producer: Pick<RecordProducer, 'send' | 'bury'>;
  readonly responsesTopic: string;
  /** Deadline of a request that names none, from the time of its record on. */
  readonly defaultDeadlineMs: number;
  /** Bytes of a RecallAnswered. Rejects with what becomes the refusal. */
  readonly answer: (recall: TopicRecall) => Promise<Uint8Array>;
}

export const answeredBytes = (answered: WireRecallAnswered): Buffer => ANSWERED.encode(answered);

/** @throws TesseraError REQUEST_INVALID where there is no request, or it is not the key's */
export function checkedRequest({ record, requested }: TopicRecall): WireRecallRequest {
  const { request } = requested;
  if (request === undefined) {
    const message = 'request: expected a request, got none';
    throw new TesseraError('REQUEST_INVALID', message, { field: 'request' });
  }
  if (request.userId !== undefined) checkKey(record, request.userId);
  return request;
}

/**
 * Recalls asked for on one topic and answered on another (proto/tessera/recall/events/v1): each
 * record has its response, its refusal or its dead letter before its offset is committed.
 */
export class RecallRequests {
  private readonly requests = new MessageCodec<WireRecallRequested>(
    protoSchema,
    `${recallEventsPackage}.RecallRequested`,
  );
  private readonly places = new Lane(ASKED_AT_ONCE_MAX);

  constructor(private readonly parts: RecallRequestParts) {}

  /** Rejects where the broker takes an answer no more: the batch is served again then. */
  async serve({ records }: Pick<RecordBatch, 'records'>): Promise<void> {
    const served = records.map((record) => this.serveOne(record));
    // The batch is served again once each of its records has ended.
    const failed = (await Promise.allSettled(served)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  private async serveOne(record: TopicRecord): Promise<void> {
    const { producer } = this.parts;
    const correlationId = record.headers[RECORD_HEADERS.correlationId];
    if (correlationId === undefined || correlationId.length === 0) {
      const message = `${RECORD_HEADERS.correlationId}: expected a header, got none`;
      const field = RECORD_HEADERS.correlationId;
      const error = new TesseraError('REQUEST_INVALID', message, { field });
      await producer.bury([{ record, error }]);
      return;
    }
    let recall: TopicRecall;
    try {
      recall = this.recallOf(record, correlationId);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      await producer.bury([{ record, error }]);
      await this.write(record, refusal(error));
      return;
    }
    await this.places.take();
    const answered = this.parts.answer(recall).finally(() => this.places.giveBack());
    await this.write(
      record,
      await answered.catch((thrown: unknown) => refusal(TesseraError.from(thrown))),
    );
  }

  private recallOf(record: TopicRecord, correlationId: Buffer): TopicRecall {
    checkVersion(record, PAYLOAD_VERSION);
    const requested = this.requests.decode(record.value);
    const untilMs = requested.deadlineTimeMs ?? record.timestampMs + this.parts.defaultDeadlineMs;
    return { record, requested, untilMs, requestId: requestIdOf(correlationId) };
  }

  /** Too large an answer becomes a refusal; where that is too large as well, a dead letter. */
  private async write(record: TopicRecord, value: Uint8Array, isRefusal = false): Promise<void> {
    try {
      await this.send(record, value);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code !== 'BODY_TOO_LARGE') throw thrown;
      if (isRefusal) await this.parts.producer.bury([{ record, error }]);
      else await this.write(record, refusal(error), true);
    }
  }

  private send(record: TopicRecord, value: Uint8Array): Promise<void> {
    const headers = {
      [RECORD_HEADERS.correlationId]: record.headers[RECORD_HEADERS.correlationId] as Buffer,
      [RECORD_HEADERS.version]: PAYLOAD_VERSION,
    };
    const message = { key: record.key, value: Buffer.from(value), headers };
    return this.parts.producer.send(this.parts.responsesTopic, [message]);
  }
}

function requestIdOf(correlationId: Buffer): string {
  const text = correlationId.toString();
  const isText = Buffer.from(text).equals(correlationId);
  return isText && text.length <= REQUEST_ID_LENGTH_MAX ? text : '';
}

/** A deadline on a topic is a time of day: what was too late stays so however often it is sent. */
function refusal(error: TesseraError): Buffer {
  const isRetryable = error.retryable && error.code !== 'DEADLINE_EXCEEDED';
  return answeredBytes({ refusal: { ...wireRefusal(error), retryable: isRetryable } });
}
