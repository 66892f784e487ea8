import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { WireRelevanceRequest, WireRelevanceResponse } from '@tessera/contracts';
import { callContext, GrpcErrorFilter } from '@tessera/grpc';
import { RelevanceEdge } from '../relevance-edge.js';
import { parseWireRelevance, toWireRelevance } from '../wire/relevance.mapper.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class RelevanceGrpcController {
  constructor(private readonly edge: RelevanceEdge) {}

  @GrpcMethod('RelevanceService', 'Score')
  async score(
    message: WireRelevanceRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireRelevanceRequest, WireRelevanceResponse>,
  ): Promise<WireRelevanceResponse> {
    const context = { edge: 'grpc' as const, ...callContext(call) };
    return toWireRelevance(await this.edge.score(() => parseWireRelevance(message), context));
  }
}
