import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import type { BehaviourEvent } from '@tessera/behaviour';
import { behaviourEventsPackage, protoSchema, type WireBehaviourEvent } from '@tessera/contracts';
import {
  checkKey,
  checkVersion,
  MessageCodec,
  type RecordBatch,
  RecordProducer,
  readRecords,
  TopicErrorFilter,
  type TopicRecord,
} from '@tessera/kafka';
import { parseBehaviour } from '../behaviour.mapper.js';
import { BehaviourEdge } from '../behaviour-edge.js';

export const BEHAVIOURS_PATTERN = 'behaviours';
const PAYLOAD_VERSION = '1';
/** Only the broker knows the writer of a record. */
const TOPIC_ACTOR = 'topic';

/** The topic of behaviours (proto/tessera/behaviour/events/v1). */
@Controller()
@UseFilters(TopicErrorFilter)
export class BehaviourTopicController {
  private readonly codec = new MessageCodec<WireBehaviourEvent>(
    protoSchema,
    `${behaviourEventsPackage}.BehaviourEvent`,
  );

  constructor(
    private readonly edge: BehaviourEdge,
    @Inject(RecordProducer) private readonly producer: RecordProducer,
  ) {}

  /** Resolves when all that can be stored is stored and the rest is buried. */
  @EventPattern(BEHAVIOURS_PATTERN)
  async store({ records }: RecordBatch): Promise<void> {
    const { contents, dead } = readRecords(records, (record) => this.eventOf(record));
    if (contents.length > 0) await this.edge.append(contents, 'kafka', TOPIC_ACTOR);
    await this.producer.bury(dead);
    for (const _ of dead) this.edge.countDead('kafka');
  }

  private eventOf(record: TopicRecord): BehaviourEvent {
    checkVersion(record, PAYLOAD_VERSION);
    const event = parseBehaviour(this.codec.decode(record.value).behaviour);
    checkKey(record, event.userId);
    this.edge.check(event);
    return event;
  }
}
