import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { RecallRequests, type RecordBatch, TopicErrorFilter } from '@tessera/kafka';
import { ForwardedBehaviours } from './forwarded-behaviours.js';

export const RECALLS_PATTERN = 'recalls';
export const BEHAVIOURS_PATTERN = 'behaviours';

/** Topics of a gateway: each recall is answered once, each behaviour appended by its owner. */
@Controller()
@UseFilters(TopicErrorFilter)
export class TopicsController {
  constructor(
    @Inject(RecallRequests) private readonly requests: RecallRequests,
    @Inject(ForwardedBehaviours) private readonly behaviours: ForwardedBehaviours,
  ) {}

  @EventPattern(RECALLS_PATTERN)
  serve(batch: RecordBatch): Promise<void> {
    return this.requests.serve(batch);
  }

  @EventPattern(BEHAVIOURS_PATTERN)
  store({ records }: RecordBatch): Promise<void> {
    return this.behaviours.store(records);
  }
}
