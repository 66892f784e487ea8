import { setTimeout as sleep } from 'node:timers/promises';
import { Controller, Inject, UseFilters } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import type { AnnouncedVersions, Pushed } from '@tessera/adapter';
import { adapterEventsPackage, protoSchema, type WireAdapterAnnounced } from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import {
  backoffMs,
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
const UNREACHED = 'ADAPTER_SOURCE_UNAVAILABLE';

/** Source of announced versions, and the schedule of fetching them. DI token. */
export class FetchSource {
  constructor(
    readonly versions: Pick<AnnouncedVersions, 'parts'>,
    readonly attemptsMax: number,
  ) {}
}

/** Errors that refuse an announcement for good; others may pass. */
const REFUSALS: ReadonlySet<string> = new Set([
  'REQUEST_INVALID',
  'ADAPTER_INVALID',
  'ADAPTER_CORRUPT',
  'ADAPTER_NOT_FOUND',
  'ADAPTER_STATE',
  'MODEL_NOT_FINITE',
  'ADAPTER_SOURCE_DENIED',
  UNREACHED,
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
    @Inject(FetchSource) private readonly source: FetchSource,
    @Inject(RecordProducer) private readonly producer: RecordProducer,
  ) {}

  /** Resolves when each version is kept and valid, or its announcement is buried. */
  @EventPattern(ANNOUNCEMENTS_PATTERN)
  async fetch({ records, signal }: RecordBatch): Promise<void> {
    for (const record of records) {
      try {
        checkVersion(record, PAYLOAD_VERSION);
        await this.take(this.codec.decode(record.value), signal);
      } catch (thrown) {
        // Nothing is wrong with an announcement whose fetch the server's end broke off.
        if (signal.aborted) throw thrown;
        const error = TesseraError.from(thrown);
        if (!REFUSALS.has(error.code)) throw error;
        const dead: DeadRecord = { record, error };
        await this.producer.bury([dead]);
      }
    }
  }

  private async take(announced: WireAdapterAnnounced, signal: AbortSignal): Promise<void> {
    const { name, share } = announced;
    const { version } = await this.fetched(announced, signal);
    // An announcement may come twice: what has served is not brought back by the second.
    if (share === 0 || version.state !== 'validated') return;
    const wanted = { share, isCompared: true, isWarmed: true };
    await this.edge.activateAs({ name: ACTOR }, { name, digest: version.digest }, wanted);
  }

  /** Its topic waits for a store that is away, for as many attempts as are allowed. */
  private async fetched(announced: WireAdapterAnnounced, signal: AbortSignal): Promise<Pushed> {
    const { versions, attemptsMax } = this.source;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const parts = () => versions.parts(announced, signal);
        return await this.edge.pushNamed({ name: ACTOR }, announced.name, parts);
      } catch (thrown) {
        const mayPass = TesseraError.from(thrown).code === UNREACHED && attempt < attemptsMax;
        if (!mayPass || signal.aborted) throw thrown;
        await sleep(backoffMs(attempt - 1), undefined, { signal });
      }
    }
  }
}
