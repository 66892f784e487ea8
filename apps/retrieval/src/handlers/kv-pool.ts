import { type Call, type Read, service } from '@tessera/call';
import type {
  WireAppendRequest,
  WireAppendResponse,
  WireDropUserRequest,
  WireDropVersionRequest,
  WireInspectRequest,
  WireInspectResponse,
} from '@tessera/contracts';
import { text, texts } from '@tessera/grpc';
import type { KvEdge } from '../kv-edge.js';

/** Operations on the pool of users' keys and values. */
export function kvPoolHandlers(edge: KvEdge) {
  return service('tessera.kv.v1.KvPoolService', {
    Inspect: (read: Read<WireInspectRequest>): WireInspectResponse => ({
      chains: edge.inspect(text('userId', read().userId)),
    }),
    DropUser: async (read: Read<WireDropUserRequest>, call: Call) => {
      const { userId, deadlineMs, withRecords } = read();
      const parsed = { request: text('userId', userId), deadlineMs };
      await edge.dropUser(parsed, call, { withRecords });
      return {};
    },
    DropVersion: async (read: Read<WireDropVersionRequest>, call: Call) => {
      await edge.dropVersion(text('version', read().version), call);
      return {};
    },
    CheckIntegrity: (read: Read<object>, call: Call) => {
      read();
      return edge.checkIntegrity(call.signal);
    },
    Append: (read: Read<WireAppendRequest>, call: Call): Promise<WireAppendResponse> => {
      const { requestId, userId, profile, deadlineMs, onlyHeld } = read();
      const request = {
        requestId: text('requestId', requestId),
        userId: text('userId', userId),
        profile: texts('profile', profile),
        scene: {},
        skipUnknownItems: false,
      };
      return edge.append({ request, deadlineMs }, call, onlyHeld);
    },
  });
}
