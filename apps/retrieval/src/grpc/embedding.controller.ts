import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type { WireEmbedRequest, WireEmbedResponse } from '@tessera/contracts';
import { callContext, GrpcErrorFilter } from '@tessera/grpc';
import { EmbeddingEdge } from '../embedding-edge.js';
import { parseWireEmbed, toWireEmbed } from '../wire/embedding.mapper.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class EmbeddingGrpcController {
  constructor(private readonly edge: EmbeddingEdge) {}

  @GrpcMethod('EmbeddingService', 'Embed')
  async embed(
    message: WireEmbedRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireEmbedRequest, WireEmbedResponse>,
  ): Promise<WireEmbedResponse> {
    const context = { edge: 'grpc' as const, ...callContext(call) };
    return toWireEmbed(await this.edge.embed(() => parseWireEmbed(message), context), message);
  }
}
