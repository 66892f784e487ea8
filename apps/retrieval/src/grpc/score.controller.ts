import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { WireScoreRequest, WireScoreResponse } from '@tessera/contracts';
import { callContext, GrpcErrorFilter } from '@tessera/grpc';
import { RecallEdge } from '../recall-edge.js';
import { answerScore } from './direct-handlers.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class ScoreGrpcController {
  constructor(private readonly edge: RecallEdge) {}

  @GrpcMethod('ScoreService', 'Score')
  async score(
    message: WireScoreRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireScoreRequest, WireScoreResponse>,
  ): Promise<WireScoreResponse> {
    return answerScore(this.edge, message, callContext(call));
  }
}
