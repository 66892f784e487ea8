import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { type RecordBatch, TopicErrorFilter } from '@tessera/kafka';
import { ForwardedBehaviours } from './forwarded-behaviours.js';

export const BEHAVIOURS_PATTERN = 'behaviours';

/** The topic of behaviours: the owner of a user appends theirs, and follows them in its pool. */
@Controller()
@UseFilters(TopicErrorFilter)
export class BehavioursTopicController {
  constructor(@Inject(ForwardedBehaviours) private readonly behaviours: ForwardedBehaviours) {}

  @EventPattern(BEHAVIOURS_PATTERN)
  store({ records }: RecordBatch): Promise<void> {
    return this.behaviours.store(records);
  }
}
