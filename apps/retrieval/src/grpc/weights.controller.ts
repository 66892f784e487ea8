import type { Metadata } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type {
  Submission,
  WireWeightsGetRequest,
  WireWeightsGetResponse,
  WireWeightsRollbackRequest,
  WireWeightsRollbackResponse,
  WireWeightsUpdateRequest,
  WireWeightsUpdateResponse,
} from '@tessera/contracts';
import { callerOf, GrpcErrorFilter, refuseMalformed, text } from '@tessera/grpc';
import { WeightsEdge } from '../weights-edge.js';
import { submissionOf } from '../wire/submission.js';

const howOf = (metadata: Metadata): Submission => submissionOf((name) => metadata.get(name)[0]);

@Controller()
@UseFilters(GrpcErrorFilter)
export class WeightsGrpcController {
  constructor(private readonly edge: WeightsEdge) {}

  @GrpcMethod('WeightsService', 'Update')
  async update(
    message: WireWeightsUpdateRequest,
    metadata: Metadata,
  ): Promise<WireWeightsUpdateResponse> {
    refuseMalformed(message);
    const name = text('name', message.name);
    const how = howOf(metadata);
    const { digest, drainedUs, swappedUs } = await this.edge.update(callerOf(metadata), name, how);
    return { digest, drainedUs, swappedUs };
  }

  @GrpcMethod('WeightsService', 'Rollback')
  async rollBack(
    message: WireWeightsRollbackRequest,
    metadata: Metadata,
  ): Promise<WireWeightsRollbackResponse> {
    refuseMalformed(message);
    const { serving, ...update } = await this.edge.rollBack(callerOf(metadata), howOf(metadata));
    const { digest, drainedUs, swappedUs } = update;
    return { name: serving, digest, drainedUs, swappedUs };
  }

  @GrpcMethod('WeightsService', 'Get')
  get(message: WireWeightsGetRequest): WireWeightsGetResponse {
    refuseMalformed(message);
    const { serving, previous, digest } = this.edge.get();
    return { name: serving, digest, previous };
  }
}
