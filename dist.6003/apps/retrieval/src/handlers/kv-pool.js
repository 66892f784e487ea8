import { service } from "../../../../libs/edge/call/src/index.js";
import { text, texts } from "../../../../libs/edge/grpc/src/index.js";
/** Operations on the pool of users' keys and values. */ export function kvPoolHandlers(edge) {
    return service('tessera.kv.v1.KvPoolService', {
        Inspect: (read)=>({
                chains: edge.inspect(text('userId', read().userId))
            }),
        DropUser: async (read, call)=>{
            const { userId, deadlineMs, withRecords } = read();
            const parsed = {
                request: text('userId', userId),
                deadlineMs
            };
            await edge.dropUser(parsed, call, {
                withRecords
            });
            return {};
        },
        DropVersion: async (read, call)=>{
            await edge.dropVersion(text('version', read().version), call);
            return {};
        },
        CheckIntegrity: (read, call)=>{
            read();
            return edge.checkIntegrity(call.signal);
        },
        Append: (read, call)=>{
            const { requestId, userId, profile, deadlineMs, onlyHeld } = read();
            const request = {
                requestId: text('requestId', requestId),
                userId: text('userId', userId),
                profile: texts('profile', profile),
                scene: {},
                skipUnknownItems: false
            };
            return edge.append({
                request,
                deadlineMs
            }, call, onlyHeld);
        }
    });
}

//# sourceMappingURL=kv-pool.js.map