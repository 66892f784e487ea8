import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod, GrpcStreamMethod } from '@nestjs/microservices';
import { CatalogueChanges } from '@tessera/catalogue';
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
import { parseWireChanges } from './catalogue.mapper.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class CatalogueGrpcController {
  constructor(private readonly changes: CatalogueChanges) {}

  @GrpcMethod('CatalogueService', 'Apply')
  async apply(message: WireApplyRequest): Promise<WireApplyResponse> {
    refuseMalformed(message);
    const changes = parseWireChanges(message.changes);
    const sequence = message.bundle
      ? await this.changes.applyBundle(changes, message.bundle)
      : await this.changes.apply(changes);
    return { sequence };
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyStream')
  applyStream(batches: Observable<WireApplyStreamRequest>): Observable<WireApplyStreamResponse> {
    return batches.pipe(concatMap((batch) => this.apply({ ...batch, bundle: undefined })));
  }

  @GrpcMethod('CatalogueService', 'GetState')
  getState(message: WireGetStateRequest): WireGetStateResponse {
    refuseMalformed(message);
    const { baseDigest, ...state } = this.changes.state();
    const { bundleUuid, levelSizes } = this.changes;
    return { ...state, base: baseDigest, bundleUuid, levelSizes: [...levelSizes] };
  }

  @GrpcMethod('CatalogueService', 'ListItems')
  listItems(message: WireListItemsRequest): Observable<WireListItemsResponse> {
    refuseMalformed(message);
    return from(this.changes.listItems()).pipe(
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
    const generations = await this.changes.generations();
    return {
      generations: generations.map(({ baseDigest, ...rest }) => ({ ...rest, base: baseDigest })),
    };
  }

  @GrpcMethod('CatalogueService', 'Compact')
  async compact(message: WireCompactRequest): Promise<WireCompactResponse> {
    refuseMalformed(message);
    return { sequence: await this.changes.compact() };
  }

  @GrpcMethod('CatalogueService', 'RollBack')
  async rollBack(message: WireRollBackRequest): Promise<WireRollBackResponse> {
    refuseMalformed(message);
    return { sequence: await this.changes.rollBack(message.sequence) };
  }
}
