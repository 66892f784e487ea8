import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { RecallRequests, type RecordBatch, TopicErrorFilter } from '@tessera/kafka';

export const RECALLS_PATTERN = 'recalls';

/** Recalls asked for on their topic: each is asked of the user's owner and answered once. */
@Controller()
@UseFilters(TopicErrorFilter)
export class RecallsTopicController {
  constructor(@Inject(RecallRequests) private readonly requests: RecallRequests) {}

  @EventPattern(RECALLS_PATTERN)
  serve(batch: RecordBatch): Promise<void> {
    return this.requests.serve(batch);
  }
}
