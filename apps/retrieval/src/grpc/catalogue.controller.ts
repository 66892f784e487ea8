import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod, GrpcStreamMethod } from '@nestjs/microservices';
import { type CatalogueChanges, ChangeBatch } from '@tessera/catalogue';
import type {
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
  WireListItemsRequest,
  WireListItemsResponse,
  WireListVersionsRequest,
  WireListVersionsResponse,
  WireRollBackRequest,
  WireRollBackResponse,
} from '@tessera/contracts';
import { GrpcErrorFilter, refuseMalformed } from '@tessera/grpc';
import {
  asyncScheduler,
  concatMap,
  defaultIfEmpty,
  from,
  map,
  type Observable,
  scan,
  scheduled,
  takeLast,
  takeWhile,
} from 'rxjs';
import { ServedCatalogues } from '../served-catalogues.js';
import { parseWireChanges } from './catalogue.mapper.js';
import { CollectedBatch, GRPC_SOURCE } from './collected-batch.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class CatalogueGrpcController {
  constructor(private readonly catalogues: ServedCatalogues) {}

  @GrpcMethod('CatalogueService', 'Apply')
  async apply(message: WireApplyRequest): Promise<WireApplyResponse> {
    refuseMalformed(message);
    const catalogue = this.of(message);
    const changes = parseWireChanges(message.changes);
    const sequence = message.bundle
      ? await catalogue.applyBundle(ChangeBatch.of(changes), message.bundle, GRPC_SOURCE)
      : await catalogue.apply(changes, GRPC_SOURCE);
    return { sequence };
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyStream')
  applyStream(batches: Observable<WireApplyStreamRequest>): Observable<WireApplyStreamResponse> {
    return batches.pipe(concatMap((batch) => this.apply({ ...batch, bundle: undefined })));
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyBatch')
  applyBatch(messages: Observable<WireApplyBatchRequest>): Observable<WireApplyBatchResponse> {
    return messages.pipe(
      scan((batch, message) => batch.add(message), new CollectedBatch()),
      takeWhile((batch) => !batch.isWhole, true),
      defaultIfEmpty(new CollectedBatch()),
      takeLast(1),
      concatMap((batch) => batch.apply(this.catalogues.of)),
      map((sequence) => ({ sequence })),
    );
  }

  @GrpcMethod('CatalogueService', 'GetState')
  getState(message: WireGetStateRequest): WireGetStateResponse {
    refuseMalformed(message);
    const { baseDigest, ...state } = this.of(message).state();
    const { bundleUuid, levelSizes } = this.of(message);
    return { ...state, base: baseDigest, bundleUuid, levelSizes: [...levelSizes] };
  }

  @GrpcMethod('CatalogueService', 'ListItems')
  listItems(message: WireListItemsRequest): Observable<WireListItemsResponse> {
    refuseMalformed(message);
    return from(this.of(message).listItems()).pipe(
      concatMap(({ sequence, pages }) =>
        // A turn of the event loop between pages: recalls go on meanwhile.
        scheduled(pages, asyncScheduler).pipe(
          map((page) => ({
            sequence,
            items: page.map(({ isPaused, sid, ...item }) => ({
              ...item,
              sid: [...sid],
              paused: isPaused,
            })),
          })),
        ),
      ),
    );
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
  async compact(message: WireCompactRequest): Promise<WireCompactResponse> {
    refuseMalformed(message);
    return { sequence: await this.of(message).compact() };
  }

  @GrpcMethod('CatalogueService', 'RollBack')
  async rollBack(message: WireRollBackRequest): Promise<WireRollBackResponse> {
    refuseMalformed(message);
    return { sequence: await this.of(message).rollBack(message.sequence, GRPC_SOURCE) };
  }

  private of({ catalogue }: { readonly catalogue: string }): CatalogueChanges {
    return this.catalogues.of(catalogue);
  }
}
