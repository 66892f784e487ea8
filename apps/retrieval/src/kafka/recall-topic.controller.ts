import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import {
  protoSchema,
  recallEventsPackage,
  type WireRecallAnswered,
  type WireRecallRequested,
} from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  checkKey,
  checkVersion,
  MessageCodec,
  RECORD_HEADERS,
  type RecordBatch,
  RecordProducer,
  TopicErrorFilter,
  type TopicRecord,
} from '@tessera/kafka';
import { carrierOf } from '@tessera/telemetry';
import { MICROSECONDS_PER_MILLISECOND } from '@tessera/units';
import { RecallEdge } from '../recall-edge.js';
import { parseWireRecall, toWireResponse } from '../wire/recall.mapper.js';
import { wireRefusal } from './wire-refusal.js';

export const RECALL_REQUESTS_PATTERN = 'recall.requests';
const PAYLOAD_VERSION = '1';

/** Settings of the topic controller. DI token. */
export class RecallTopicSettings {
  constructor(
    readonly responsesTopic: string,
    readonly defaultDeadlineMs: number,
    /** Milliseconds since 1970. */
    readonly nowMs: () => number,
  ) {}
}

/** Recalls asked for and answered over topics (proto/tessera/recall/events/v1). */
@Controller()
@UseFilters(TopicErrorFilter)
export class RecallTopicController {
  private readonly requests = new MessageCodec<WireRecallRequested>(
    protoSchema,
    `${recallEventsPackage}.RecallRequested`,
  );
  private readonly answers = new MessageCodec<WireRecallAnswered>(
    protoSchema,
    `${recallEventsPackage}.RecallAnswered`,
  );

  constructor(
    private readonly edge: RecallEdge,
    @Inject(RecordProducer) private readonly producer: RecordProducer,
    @Inject(RecallTopicSettings) private readonly settings: RecallTopicSettings,
  ) {}

  /** Resolves when every record of the batch has its response, its refusal or its grave. */
  @EventPattern(RECALL_REQUESTS_PATTERN)
  async serve({ records }: RecordBatch): Promise<void> {
    await Promise.all(records.map((record) => this.serveOne(record)));
  }

  private async serveOne(record: TopicRecord): Promise<void> {
    const correlationId = record.headers[RECORD_HEADERS.correlationId];
    if (correlationId === undefined || correlationId.length === 0) {
      const message = `${RECORD_HEADERS.correlationId}: expected a header, got none`;
      const field = RECORD_HEADERS.correlationId;
      const error = new TesseraError('REQUEST_INVALID', message, { field });
      await this.producer.bury([{ record, error }]);
      return;
    }
    let requested: WireRecallRequested;
    try {
      requested = this.requestOf(record);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      await this.producer.bury([{ record, error }]);
      await this.answer(record, refusal(error));
      return;
    }
    await this.answer(record, await this.recall(record, requested));
  }

  private requestOf(record: TopicRecord): WireRecallRequested {
    checkVersion(record, PAYLOAD_VERSION);
    return this.requests.decode(record.value);
  }

  private async recall(
    record: TopicRecord,
    { request, deadlineTimeMs }: WireRecallRequested,
  ): Promise<WireRecallAnswered> {
    const { defaultDeadlineMs, nowMs } = this.settings;
    const until = deadlineTimeMs ?? record.timestampMs + defaultDeadlineMs;
    const call = {
      edge: 'kafka' as const,
      // A request that was taken is answered; there is nobody who could go away.
      signal: new AbortController().signal,
      budgetUs: (until - nowMs()) * MICROSECONDS_PER_MILLISECOND,
      caller: carrierOf((name) => record.headers[name]?.toString()),
    };
    try {
      const answer = await this.edge.recall(() => {
        if (request === undefined) {
          throw new TesseraError('REQUEST_INVALID', 'request: expected a request, got none', {
            field: 'request',
          });
        }
        if (request.userId !== undefined) checkKey(record, request.userId);
        return parseWireRecall(request);
      }, call);
      return { response: toWireResponse(answer) };
    } catch (thrown) {
      return refusal(TesseraError.from(thrown));
    }
  }

  /** Too large an answer becomes a refusal; where that is too large as well, a dead letter. */
  private async answer(record: TopicRecord, answered: WireRecallAnswered): Promise<void> {
    try {
      await this.write(record, answered);
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (error.code !== 'BODY_TOO_LARGE') throw thrown;
      if (answered.refusal === undefined) await this.answer(record, refusal(error));
      else await this.producer.bury([{ record, error }]);
    }
  }

  private write(record: TopicRecord, answered: WireRecallAnswered): Promise<void> {
    const correlationId = record.headers[RECORD_HEADERS.correlationId] as Buffer;
    const headers = {
      [RECORD_HEADERS.correlationId]: correlationId,
      [RECORD_HEADERS.version]: PAYLOAD_VERSION,
    };
    const value = this.answers.encode(answered);
    return this.producer.send(this.settings.responsesTopic, [{ key: record.key, value, headers }]);
  }
}

/** A deadline on a topic is a time of day: what was too late stays so however often it is sent. */
function refusal(error: TesseraError): WireRecallAnswered {
  const isRetryable = error.retryable && error.code !== 'DEADLINE_EXCEEDED';
  return { refusal: { ...wireRefusal(error), retryable: isRetryable } };
}
