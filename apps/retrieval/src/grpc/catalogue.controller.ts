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
  WireListVersionsRequest,
  WireListVersionsResponse,
  WireRollBackRequest,
  WireRollBackResponse,
} from '@tessera/contracts';
import { GrpcErrorFilter, refuseMalformed } from '@tessera/grpc';
import { concatMap, type Observable } from 'rxjs';
import { parseWireChanges } from './catalogue.mapper.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class CatalogueGrpcController {
  constructor(private readonly changes: CatalogueChanges) {}

  @GrpcMethod('CatalogueService', 'Apply')
  async apply(message: WireApplyRequest): Promise<WireApplyResponse> {
    refuseMalformed(message);
    return { sequence: await this.changes.apply(parseWireChanges(message.changes)) };
  }

  @GrpcStreamMethod('CatalogueService', 'ApplyStream')
  applyStream(batches: Observable<WireApplyStreamRequest>): Observable<WireApplyStreamResponse> {
    return batches.pipe(concatMap((batch) => this.apply(batch)));
  }

  @GrpcMethod('CatalogueService', 'GetState')
  getState(message: WireGetStateRequest): WireGetStateResponse {
    refuseMalformed(message);
    const { baseDigest, ...state } = this.changes.state();
    return { ...state, base: baseDigest };
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
