import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { WireRecallRequest, WireRecallResponse } from '@tessera/contracts';
import { callContext, GrpcErrorFilter } from '@tessera/grpc';
import { RecallEdge } from '../recall-edge.js';
import { parseWireRecall, toWireResponse } from './recall.mapper.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class RecallGrpcController {
  constructor(private readonly edge: RecallEdge) {}

  @GrpcMethod('RecallService', 'Recall')
  async recall(
    message: WireRecallRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireRecallRequest, WireRecallResponse>,
  ): Promise<WireRecallResponse> {
    const context = { edge: 'grpc' as const, ...callContext(call) };
    return toWireResponse(await this.edge.recall(() => parseWireRecall(message), context));
  }
}
