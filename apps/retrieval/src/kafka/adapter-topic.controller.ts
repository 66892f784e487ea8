import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { fetchedParts } from '@tessera/adapter';
import { adapterEventsPackage, protoSchema, type WireAdapterAnnounced } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  checkVersion,
  type DeadRecord,
  MessageCodec,
  type RecordBatch,
  RecordProducer,
  TopicErrorFilter,
} from '@tessera/kafka';
import { AdapterEdge } from '../adapter-edge.js';

export const ANNOUNCEMENTS_PATTERN = 'adapter.announcements';
const PAYLOAD_VERSION = '1';
const ACTOR = 'announcement';

/** Where announced versions are fetched from. DI token. */
export class FetchFolder {
  constructor(readonly path: string) {}
}

/** What an announcement is refused with for good; anything else may pass. */
const REFUSALS: ReadonlySet<string> = new Set([
  'REQUEST_INVALID',
  'ADAPTER_INVALID',
  'ADAPTER_CORRUPT',
  'ADAPTER_NOT_FOUND',
  'ADAPTER_STATE',
  'MODEL_NOT_FINITE',
]);

/** The topic of versions to be fetched (proto/tessera/adapter/events/v1). */
@Controller()
@UseFilters(TopicErrorFilter)
export class AdapterTopicController {
  private readonly codec = new MessageCodec<WireAdapterAnnounced>(
    protoSchema,
    `${adapterEventsPackage}.AdapterAnnounced`,
  );

  constructor(
    private readonly edge: AdapterEdge,
    @Inject(FetchFolder) private readonly folder: FetchFolder,
    @Inject(RecordProducer) private readonly producer: RecordProducer,
  ) {}

  /** Resolves when each version is kept and valid, or its announcement is buried. */
  @EventPattern(ANNOUNCEMENTS_PATTERN)
  async fetch({ records }: RecordBatch): Promise<void> {
    for (const record of records) {
      try {
        checkVersion(record, PAYLOAD_VERSION);
        await this.take(this.codec.decode(record.value));
      } catch (thrown) {
        const error = TesseraError.from(thrown);
        if (!REFUSALS.has(error.code)) throw error;
        const dead: DeadRecord = { record, error };
        await this.producer.bury([dead]);
      }
    }
  }

  private async take(announced: WireAdapterAnnounced): Promise<void> {
    const { name, share } = announced;
    const parts = fetchedParts(this.folder.path, announced);
    const { version } = await this.edge.pushAs(ACTOR, parts);
    // An announcement may come twice: what has served is not brought back by the second.
    if (share === 0 || version.state !== 'validated') return;
    const wanted = { share, isCompared: true, isWarmed: true };
    await this.edge.activateAs(ACTOR, { name, digest: version.digest }, wanted);
  }
}
