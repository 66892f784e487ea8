import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod, GrpcStreamMethod } from '@nestjs/microservices';
import type { CatalogueChanges } from '@tessera/catalogue';
import type {
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
import { asyncScheduler, concatMap, from, map, type Observable, scheduled } from 'rxjs';
import { ServedCatalogues } from '../served-catalogues.js';
import { parseWireChanges } from './catalogue.mapper.js';

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
      ? await catalogue.applyBundle(changes, message.bundle)
      : await catalogue.apply(changes);
    return { sequence };
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyStream')
  applyStream(batches: Observable<WireApplyStreamRequest>): Observable<WireApplyStreamResponse> {
    return batches.pipe(concatMap((batch) => this.apply({ ...batch, bundle: undefined })));
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
    return { sequence: await this.of(message).rollBack(message.sequence) };
  }

  private of({ catalogue }: { readonly catalogue: string }): CatalogueChanges {
    return this.catalogues.of(catalogue);
  }
}
