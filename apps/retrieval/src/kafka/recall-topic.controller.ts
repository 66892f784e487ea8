import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { Call, type CallLimits } from '@tessera/call';
import {
  answeredBytes,
  checkedRequest,
  RecallRequests,
  type RecordBatch,
  RecordProducer,
  TopicErrorFilter,
  type TopicRecall,
} from '@tessera/kafka';
import { carrierOf } from '@tessera/telemetry';
import { RecallEdge } from '../recall-edge.js';
import { parseWireRecall, toWireResponse } from '../wire/recall.mapper.js';

export const RECALL_REQUESTS_PATTERN = 'recall.requests';

/** Records name no caller; who may write to the topic is the broker's to say. */
const TOPIC_CALLER = { name: 'topic' };

/** Settings of the topic controller. DI token. */
export class RecallTopicSettings {
  constructor(
    readonly responsesTopic: string,
    readonly limits: CallLimits,
    /** Milliseconds since 1970. */
    readonly nowMs: () => number,
  ) {}
}

/** Recalls asked for and answered over topics (proto/tessera/recall/events/v1). */
@Controller()
@UseFilters(TopicErrorFilter)
export class RecallTopicController {
  private readonly requests: RecallRequests;

  constructor(
    private readonly edge: RecallEdge,
    @Inject(RecordProducer) producer: RecordProducer,
    @Inject(RecallTopicSettings) private readonly settings: RecallTopicSettings,
  ) {
    const { responsesTopic, limits } = settings;
    const { defaultDeadlineMs } = limits;
    const answer = (recall: TopicRecall) => this.recall(recall);
    this.requests = new RecallRequests({ producer, responsesTopic, defaultDeadlineMs, answer });
  }

  /** Resolves when every record of the batch has its response, its refusal or its grave. */
  @EventPattern(RECALL_REQUESTS_PATTERN)
  serve(batch: RecordBatch): Promise<void> {
    return this.requests.serve(batch);
  }

  private async recall(recall: TopicRecall): Promise<Buffer> {
    const { record, untilMs, requestId } = recall;
    const field = (name: string) => record.headers[name]?.toString();
    const call = new Call({
      edge: 'kafka',
      caller: TOPIC_CALLER,
      // A request that was taken is answered; no caller waits that could go away.
      signal: new AbortController().signal,
      transportMs: untilMs - this.settings.nowMs(),
      limits: this.settings.limits,
      trace: carrierOf(field),
      field,
    });
    const answer = await this.edge.recall(() => {
      const request = checkedRequest(recall);
      const own = request.requestId === '' ? requestId : request.requestId;
      return parseWireRecall({ ...request, requestId: own });
    }, call);
    return answeredBytes({ response: toWireResponse(answer) });
  }
}
