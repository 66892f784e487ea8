import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { ChangeAudits } from '@tessera/access';
import { catalogueEventsPackage, protoSchema, type WireCatalogueChanged } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  checkVersion,
  type DeadRecord,
  MessageCodec,
  type RecordBatch,
  RecordProducer,
  readRecords,
  TopicErrorFilter,
  type TopicRecord,
} from '@tessera/kafka';
import { RecallOperations } from '@tessera/recall';
import { Metrics } from '@tessera/telemetry';
import { parseWireChanges } from '../wire/catalogue.mapper.js';
import { AppliedRecords } from './applied-records.js';
import { type ChangeSet, changeRuns } from './change-runs.js';

export const CATALOGUE_CHANGES_PATTERN = 'catalogue.changes';
const PAYLOAD_VERSION = '1';
/** The source that changes from the topic are recorded with. */
const TOPIC_SOURCE = 'topic';
const TOPIC_ACTOR = 'topic';

interface ChangeRecord extends ChangeSet {
  readonly record: TopicRecord;
}

/** The topic of changes of the catalogue (proto/tessera/catalogue/events/v1). */
@Controller()
@UseFilters(TopicErrorFilter)
export class CatalogueTopicController {
  private readonly codec = new MessageCodec<WireCatalogueChanged>(
    protoSchema,
    `${catalogueEventsPackage}.CatalogueChanged`,
  );

  private readonly applied = new AppliedRecords();

  constructor(
    private readonly operations: RecallOperations,
    private readonly metrics: Metrics,
    private readonly changes: ChangeAudits,
    @Inject(RecordProducer) private readonly producer: RecordProducer,
  ) {}

  /** Resolves when what can be applied is kept and visible, in its order, and the rest buried. */
  @EventPattern(CATALOGUE_CHANGES_PATTERN)
  async apply({ records }: RecordBatch): Promise<void> {
    const [first] = records;
    if (first !== undefined) this.applied.forgetBefore(first);
    const later = records.filter((record) => !this.applied.has(record));
    const { contents, dead } = readRecords(later, (record) => this.messageOf(record));
    for (const run of changeRuns(contents)) {
      for (const grave of await this.applyRun(run)) dead.push(grave);
    }
    await this.producer.bury(dead);
    this.metrics.countChangeMessages('dead', dead.length);
  }

  private messageOf(record: TopicRecord): ChangeRecord {
    checkVersion(record, PAYLOAD_VERSION);
    const { catalogue, changes } = this.codec.decode(record.value);
    return { record, catalogue, changes: parseWireChanges(changes) };
  }

  /** All at once; where that is refused one by one, to bury the guilty alone. */
  private async applyRun(run: readonly ChangeRecord[], refusedAt?: number): Promise<DeadRecord[]> {
    let entry: number | undefined;
    const onEntry = (offset: number) => {
      entry = offset;
    };
    const catalogue = run[0]?.catalogue ?? '';
    try {
      const given = run.filter(({ changes }) => changes.length > 0);
      if (given.length > 0) {
        const records = given.map(({ record, changes }) => ({ id: idOf(record), changes }));
        const own = this.operations.changesOf(catalogue);
        const applied = await own.applyRecords(records, TOPIC_SOURCE, { refusedAt, onEntry });
        const { changeCount, sequence } = applied;
        this.note(catalogue, `${changeCount} changes, sequence ${sequence}`, 'OK');
      }
      for (const { record } of run) this.applied.add(record);
      this.metrics.countChangeMessages('applied', run.length);
      return [];
    } catch (thrown) {
      const error = TesseraError.from(thrown);
      if (!REFUSALS.has(error.code)) throw error;
      const [first, ...rest] = run;
      if (first !== undefined && rest.length === 0) {
        this.note(catalogue, error.message, error.code);
        return [{ record: first.record, error }];
      }
    }
    const dead: DeadRecord[] = [];
    for (const message of run) dead.push(...(await this.applyRun([message], entry)));
    return dead;
  }

  /** Only the broker knows the writer of a record. */
  private note(name: string, detail: string, outcome: string): void {
    const change = { action: 'apply-changes', actor: TOPIC_ACTOR, edge: 'kafka', name } as const;
    this.changes.note({ ...change, detail }, outcome);
  }
}

/** ID of a record. Its time is part of it: a topic made anew begins with old offsets. */
function idOf({ topic, partition, offset, timestampMs }: TopicRecord): string {
  return `${topic} ${partition} ${offset} ${timestampMs}`;
}

/** Errors that refuse a message for good; others may pass. */
const REFUSALS: ReadonlySet<string> = new Set([
  'CATALOGUE_INVALID',
  'ITEM_NOT_FOUND',
  'REQUEST_INVALID',
]);
