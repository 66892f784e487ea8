import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { WireRecallRequest, WireRecallResponse } from '@tessera/contracts';
import { callContext, GrpcErrorFilter } from '@tessera/grpc';
import { RecallEdge } from '../recall-edge.js';
import { answerRecall } from './direct-handlers.js';

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
    return answerRecall(this.edge, message, callContext(call));
  }
}
