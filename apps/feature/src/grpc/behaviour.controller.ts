import type { Metadata, ServerUnaryCall } from '@grpc/grpc-js';
import { Controller, UseFilters } from '@nestjs/common';
import { GrpcMethod } from '@nestjs/microservices';
import type {
  WireBehaviourAppendRequest,
  WireBehaviourAppendResponse,
  WireEraseRequest,
  WireEraseResponse,
  WireHistoryRequest,
  WireHistoryResponse,
  WirePutProfileRequest,
  WirePutProfileResponse,
} from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { callContext, callerOf, GrpcErrorFilter, invalid, refuseMalformed } from '@tessera/grpc';
import {
  BEHAVIOURS_PER_CALL_MAX,
  parseBehaviour,
  parseLimit,
  parseProfile,
  parseUserId,
  toWireBehaviour,
  toWireOutcome,
} from '../behaviour.mapper.js';
import { BehaviourEdge } from '../behaviour-edge.js';

@Controller()
@UseFilters(GrpcErrorFilter)
export class BehaviourGrpcController {
  constructor(private readonly edge: BehaviourEdge) {}

  @GrpcMethod('BehaviourService', 'Append')
  async append(
    message: WireBehaviourAppendRequest,
    metadata: Metadata,
  ): Promise<WireBehaviourAppendResponse> {
    refuseMalformed(message);
    const { behaviours } = message;
    if (behaviours.length > BEHAVIOURS_PER_CALL_MAX) {
      throw invalid('behaviours', `at most ${BEHAVIOURS_PER_CALL_MAX}`, behaviours.length);
    }
    const events = behaviours.map((wire, index) =>
      placed(`behaviours[${index}]`, () => {
        const event = parseBehaviour(wire);
        this.edge.check(event);
        return event;
      }),
    );
    const outcomes = await this.edge.append(events, 'grpc', callerOf(metadata).name);
    return { outcomes: outcomes.map(toWireOutcome) };
  }

  @GrpcMethod('BehaviourService', 'History')
  async history(
    message: WireHistoryRequest,
    _metadata: Metadata,
    call: ServerUnaryCall<WireHistoryRequest, WireHistoryResponse>,
  ): Promise<WireHistoryResponse> {
    refuseMalformed(message);
    const userId = parseUserId(message.userId);
    const { caller } = callContext(call);
    const limit = parseLimit(message.limit);
    const { behaviours, profile } = await this.edge.history(userId, limit, caller);
    return {
      behaviours: behaviours.map((behaviour) => toWireBehaviour(userId, behaviour)),
      profile: { ...profile },
    };
  }

  @GrpcMethod('BehaviourService', 'PutProfile')
  async putProfile(
    message: WirePutProfileRequest,
    metadata: Metadata,
  ): Promise<WirePutProfileResponse> {
    refuseMalformed(message);
    const userId = parseUserId(message.userId);
    await this.edge.putProfile(userId, parseProfile(message.profile), callerOf(metadata).name);
    return {};
  }

  @GrpcMethod('BehaviourService', 'Erase')
  async erase(message: WireEraseRequest, metadata: Metadata): Promise<WireEraseResponse> {
    refuseMalformed(message);
    const { known } = await this.edge.erase(parseUserId(message.userId), callerOf(metadata).name);
    return { known };
  }
}

/** A fault of one among many names its place; it is the caller's either way. */
function placed<T>(place: string, parse: () => T): T {
  try {
    return parse();
  } catch (thrown) {
    const { message, field } = TesseraError.from(thrown);
    throw new TesseraError('REQUEST_INVALID', `${place}.${message}`, {
      field: `${place}.${field}`,
      cause: thrown,
    });
  }
}
