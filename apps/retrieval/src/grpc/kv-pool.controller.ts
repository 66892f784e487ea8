import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type {
  WireAppendRequest,
  WireAppendResponse,
  WireCheckIntegrityResponse,
  WireDropUserRequest,
  WireDropUserResponse,
  WireDropVersionRequest,
  WireDropVersionResponse,
  WireInspectRequest,
  WireInspectResponse,
} from '@tessera/contracts';
import {
  callContext,
  callerOf,
  GrpcErrorFilter,
  refuseMalformed,
  text,
  texts,
} from '@tessera/grpc';
import { KvEdge } from '../kv-edge.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class KvPoolGrpcController {
  constructor(private readonly edge: KvEdge) {}

  @GrpcMethod('KvPoolService', 'Inspect')
  inspect(message: WireInspectRequest): WireInspectResponse {
    refuseMalformed(message);
    return { chains: this.edge.inspect(text('userId', message.userId)) };
  }

  @GrpcMethod('KvPoolService', 'DropUser')
  async dropUser(
    message: WireDropUserRequest,
    metadata: Metadata,
    call: ServerUnaryCall<WireDropUserRequest, WireDropUserResponse>,
  ): Promise<WireDropUserResponse> {
    refuseMalformed(message);
    const { deadlineMs, withRecords } = message;
    const request = text('userId', message.userId);
    const context = { edge: 'grpc' as const, ...callContext(call) };
    const parsed = { request, deadlineMs };
    await this.edge.dropUser(parsed, context, callerOf(metadata), { withRecords });
    return {};
  }

  @GrpcMethod('KvPoolService', 'DropVersion')
  async dropVersion(
    message: WireDropVersionRequest,
    metadata: Metadata,
  ): Promise<WireDropVersionResponse> {
    refuseMalformed(message);
    await this.edge.dropVersion(text('version', message.version), 'grpc', callerOf(metadata));
    return {};
  }

  @GrpcMethod('KvPoolService', 'CheckIntegrity')
  async checkIntegrity(
    _message: object,
    _metadata: Metadata,
    call: ServerUnaryCall<object, WireCheckIntegrityResponse>,
  ): Promise<WireCheckIntegrityResponse> {
    return this.edge.checkIntegrity(callContext(call).signal);
  }

  @GrpcMethod('KvPoolService', 'Append')
  async append(
    message: WireAppendRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireAppendRequest, WireAppendResponse>,
  ): Promise<WireAppendResponse> {
    refuseMalformed(message);
    const request = {
      requestId: text('requestId', message.requestId),
      userId: text('userId', message.userId),
      profile: texts('profile', message.profile),
      scene: {},
      skipUnknownItems: false,
    };
    const { deadlineMs, onlyHeld } = message;
    const context = { edge: 'grpc' as const, ...callContext(call) };
    return this.edge.append({ request, deadlineMs }, context, onlyHeld);
  }
}
