import type { Metadata } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type {
  WireWeightsGetRequest,
  WireWeightsGetResponse,
  WireWeightsRollbackRequest,
  WireWeightsRollbackResponse,
  WireWeightsUpdateRequest,
  WireWeightsUpdateResponse,
} from '@tessera/contracts';
import { GrpcErrorFilter, refuseMalformed, text } from '@tessera/grpc';
import { WeightsEdge } from '../weights-edge.js';
import { type Call, credentialsOf } from './credentials.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class WeightsGrpcController {
  constructor(private readonly edge: WeightsEdge) {}

  @GrpcMethod('WeightsService', 'Update')
  async update(
    message: WireWeightsUpdateRequest,
    _metadata: Metadata,
    call: Call,
  ): Promise<WireWeightsUpdateResponse> {
    refuseMalformed(message);
    const name = text('name', message.name);
    const { digest, drainedUs, swappedUs } = await this.edge.update(credentialsOf(call), name);
    return { digest, drainedUs, swappedUs };
  }

  @GrpcMethod('WeightsService', 'Rollback')
  async rollBack(
    message: WireWeightsRollbackRequest,
    _metadata: Metadata,
    call: Call,
  ): Promise<WireWeightsRollbackResponse> {
    refuseMalformed(message);
    const { serving, ...update } = await this.edge.rollBack(credentialsOf(call));
    const { digest, drainedUs, swappedUs } = update;
    return { name: serving, digest, drainedUs, swappedUs };
  }

  @GrpcMethod('WeightsService', 'Get')
  async get(
    message: WireWeightsGetRequest,
    _metadata: Metadata,
    call: Call,
  ): Promise<WireWeightsGetResponse> {
    refuseMalformed(message);
    const { serving, previous, digest } = await this.edge.get(credentialsOf(call));
    return { name: serving, digest, previous };
  }
}
