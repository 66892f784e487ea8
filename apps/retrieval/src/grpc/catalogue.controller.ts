import type { Metadata, ServerWritableStream } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod, GrpcStreamMethod } from '@nestjs/microservices';
import { type Change, ChangeAudits } from '@tessera/access';
import type { AppliedImport, CatalogueChanges } from '@tessera/catalogue';
import type {
  Submission,
  WireApplyBatchRequest,
  WireApplyBatchResponse,
  WireApplyRequest,
  WireApplyResponse,
  WireApplyStreamRequest,
  WireApplyStreamResponse,
  WireCompactRequest,
  WireCompactResponse,
  WireGetStateRequest,
  WireGetStateResponse,
  WireItem,
  WireListItemsRequest,
  WireListItemsResponse,
  WireListVersionsRequest,
  WireListVersionsResponse,
  WireQuantiseRequest,
  WireQuantiseResponse,
  WireRollBackRequest,
  WireRollBackResponse,
} from '@tessera/contracts';
import type { ListedItem } from '@tessera/engine';
import { callerOf, GrpcErrorFilter, paced, refuseMalformed } from '@tessera/grpc';
import { RecallOperations } from '@tessera/recall';
import { concatMap, defaultIfEmpty, map, type Observable, scan, takeLast, takeWhile } from 'rxjs';
import { answerOf, applyWire, parseWireChanges, quantised } from '../wire/catalogue.mapper.js';
import { submissionOf } from '../wire/submission.js';
import { CollectedBatch, GRPC_SOURCE } from './collected-batch.js';

const sequenceTold = (sequence: number) => `sequence ${sequence}`;

function changeOf(action: string, metadata: Metadata, name: string): Change {
  return { action, actor: callerOf(metadata).name, edge: 'grpc', name };
}

const howOf = (metadata: Metadata): Submission => submissionOf((name) => metadata.get(name)[0]);

/** A key is of one change: the batches of a stream have none. */
function unkeyed(metadata: Metadata): Metadata {
  metadata.remove('idempotency-key');
  return metadata;
}

/** Written out: objects made by spread and rest live until a major collection of V8. */
const wireItem = (item: ListedItem): WireItem => ({
  itemId: item.itemId,
  sid: [...item.sid],
  title: item.title,
  attributes: item.attributes,
  priority: item.priority,
  paused: item.isPaused,
});

async function* listed(changes: CatalogueChanges): AsyncGenerator<WireListItemsResponse> {
  const { sequence, pages } = await changes.listItems();
  for (const page of pages) yield { sequence, items: page.map(wireItem) };
}

@Controller()
@UseFilters(GrpcErrorFilter)
export class CatalogueGrpcController {
  constructor(
    private readonly operations: RecallOperations,
    private readonly changes: ChangeAudits,
  ) {}

  @GrpcMethod('CatalogueService', 'Apply')
  async apply(message: WireApplyRequest, metadata: Metadata): Promise<WireApplyResponse> {
    refuseMalformed(message);
    const applied = await this.applied(metadata, message.catalogue, () => {
      const catalogue = this.of(message);
      const changes = parseWireChanges(message.changes);
      return applyWire(catalogue, changes, message, GRPC_SOURCE, howOf(metadata));
    });
    return answerOf(applied);
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyStream')
  applyStream(
    batches: Observable<WireApplyStreamRequest>,
    metadata: Metadata,
  ): Observable<WireApplyStreamResponse> {
    return batches.pipe(
      concatMap((batch) =>
        this.apply({ ...batch, bundle: undefined, importMark: undefined }, unkeyed(metadata)),
      ),
    );
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyBatch')
  applyBatch(
    messages: Observable<WireApplyBatchRequest>,
    metadata: Metadata,
  ): Observable<WireApplyBatchResponse> {
    return messages.pipe(
      scan((batch, message) => batch.add(message), new CollectedBatch()),
      takeWhile((batch) => !batch.isWhole, true),
      defaultIfEmpty(new CollectedBatch()),
      takeLast(1),
      concatMap((batch) =>
        this.applied(metadata, batch.catalogue, () =>
          batch.apply((name) => this.operations.changesOf(name), howOf(metadata)),
        ),
      ),
      map(answerOf),
    );
  }

  @GrpcMethod('CatalogueService', 'Quantise')
  async quantise(message: WireQuantiseRequest): Promise<WireQuantiseResponse> {
    refuseMalformed(message);
    return quantised(this.of(message), message);
  }

  @GrpcMethod('CatalogueService', 'GetState')
  getState(message: WireGetStateRequest): WireGetStateResponse {
    refuseMalformed(message);
    const { baseDigest, ...state } = this.of(message).state();
    const { bundleUuid, levelSizes } = this.of(message);
    return { ...state, base: baseDigest, bundleUuid, levelSizes: [...levelSizes] };
  }

  @GrpcMethod('CatalogueService', 'ListItems')
  listItems(
    message: WireListItemsRequest,
    _metadata: Metadata,
    call: ServerWritableStream<WireListItemsRequest, WireListItemsResponse>,
  ): Observable<WireListItemsResponse> {
    refuseMalformed(message);
    return paced(listed(this.of(message)), call);
  }

  @GrpcMethod('CatalogueService', 'ListVersions')
  async listVersions(message: WireListVersionsRequest): Promise<WireListVersionsResponse> {
    refuseMalformed(message);
    const generations = await this.of(message).generations();
    return {
      generations: generations.map(({ baseDigest, ...rest }) => ({ ...rest, base: baseDigest })),
    };
  }

  @GrpcMethod('CatalogueService', 'Compact')
  async compact(message: WireCompactRequest, metadata: Metadata): Promise<WireCompactResponse> {
    refuseMalformed(message);
    const { catalogue } = message;
    const change = changeOf('compact-catalogue', metadata, catalogue);
    const act = () => this.of(message).compact();
    return { sequence: await this.changes.audited(change, act, sequenceTold) };
  }

  @GrpcMethod('CatalogueService', 'RollBack')
  async rollBack(message: WireRollBackRequest, metadata: Metadata): Promise<WireRollBackResponse> {
    refuseMalformed(message);
    const { catalogue, sequence: to } = message;
    const detail = `to sequence ${to}`;
    const change = { ...changeOf('roll-back-catalogue', metadata, catalogue), detail };
    const act = () => this.of(message).rollBack(to, GRPC_SOURCE, howOf(metadata));
    return { sequence: await this.changes.audited(change, act, sequenceTold) };
  }

  /** Behind the answer: changes come in streams. */
  private applied(
    metadata: Metadata,
    name: string,
    act: () => Promise<AppliedImport>,
  ): Promise<AppliedImport> {
    const change = changeOf('apply-changes', metadata, name);
    // A change that does not parse is audited as well.
    return this.changes.noted(
      change,
      async () => act(),
      ({ sequence }) => sequenceTold(sequence),
    );
  }

  private of({ catalogue }: { readonly catalogue: string }): CatalogueChanges {
    return this.operations.changesOf(catalogue);
  }
}
