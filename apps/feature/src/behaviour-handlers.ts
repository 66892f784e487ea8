import { type Call, type Handler, type Read, service } from '@tessera/call';
import {
  BEHAVIOURS_PER_CALL_MAX,
  type WireBehaviourAppendRequest,
  type WireBehaviourAppendResponse,
  type WireEraseRequest,
  type WireEraseResponse,
  type WireHistoryRequest,
  type WireHistoryResponse,
  type WirePutProfileRequest,
  type WirePutProfileResponse,
} from '@tessera/contracts';
import { TesseraError } from '@tessera/errors';
import { invalid } from '@tessera/grpc';
import {
  parseBehaviour,
  parseLimit,
  parseProfile,
  parseUserId,
  toWireBehaviour,
  toWireOutcome,
} from './behaviour.mapper.js';
import type { BehaviourEdge } from './behaviour-edge.js';

/** Methods on behaviours: append, read, erase. */
export function behaviourHandlers(edge: BehaviourEdge): [path: string, handler: Handler][] {
  return service('tessera.behaviour.v1.BehaviourService', {
    Append: async (
      read: Read<WireBehaviourAppendRequest>,
      call: Call,
    ): Promise<WireBehaviourAppendResponse> => {
      const events = eventsOf(read(), edge);
      const outcomes = await edge.append(events, call.edge, call.caller.name);
      return { outcomes: outcomes.map(toWireOutcome) };
    },
    History: async (read: Read<WireHistoryRequest>, call: Call): Promise<WireHistoryResponse> => {
      const message = read();
      const userId = parseUserId(message.userId);
      const limit = parseLimit(message.limit);
      const { behaviours, profile } = await edge.history(userId, limit, call.trace);
      return {
        behaviours: behaviours.map((behaviour) => toWireBehaviour(userId, behaviour)),
        profile: { ...profile },
      };
    },
    PutProfile: async (
      read: Read<WirePutProfileRequest>,
      call: Call,
    ): Promise<WirePutProfileResponse> => {
      const { userId, profile } = read();
      await edge.putProfile(parseUserId(userId), parseProfile(profile), call);
      return {};
    },
    Erase: async (read: Read<WireEraseRequest>, call: Call): Promise<WireEraseResponse> => {
      const { known } = await edge.erase(parseUserId(read().userId), call);
      return { known };
    },
  });
}

function eventsOf({ behaviours }: WireBehaviourAppendRequest, edge: BehaviourEdge) {
  if (behaviours.length > BEHAVIOURS_PER_CALL_MAX) {
    throw invalid('behaviours', `at most ${BEHAVIOURS_PER_CALL_MAX}`, behaviours.length);
  }
  return behaviours.map((wire, index) =>
    placed(`behaviours[${index}]`, () => {
      const event = parseBehaviour(wire);
      edge.check(event);
      return event;
    }),
  );
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
