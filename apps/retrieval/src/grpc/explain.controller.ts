import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { WireExplainRequest, WireExplainResponse } from '@tessera/contracts';
import { callContext, GrpcErrorFilter } from '@tessera/grpc';
import { RecallEdge } from '../recall-edge.js';
import { parseWireExplain, toWireExplanation } from '../wire/explain.mapper.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class ExplainGrpcController {
  constructor(private readonly edge: RecallEdge) {}

  @GrpcMethod('ExplainService', 'Explain')
  async explain(
    message: WireExplainRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireExplainRequest, WireExplainResponse>,
  ): Promise<WireExplainResponse> {
    const context = { edge: 'grpc' as const, ...callContext(call) };
    return toWireExplanation(await this.edge.explain(() => parseWireExplain(message), context));
  }
}
