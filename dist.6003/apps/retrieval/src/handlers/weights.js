import { service, submissionOf } from "../../../../libs/edge/call/src/index.js";
import { text } from "../../../../libs/edge/grpc/src/index.js";
/** Whole sets of weights. */ export function weightsHandlers(edge) {
    return service('tessera.weights.v1.WeightsService', {
        Update: async (read, call)=>{
            const name = text('name', read().name);
            const updated = await edge.update(call.caller, name, submissionOf(call.field));
            const { digest, drainedUs, swappedUs } = updated;
            return {
                digest,
                drainedUs,
                swappedUs
            };
        },
        Rollback: async (read, call)=>{
            read();
            const { serving, ...update } = await edge.rollBack(call.caller, submissionOf(call.field));
            const { digest, drainedUs, swappedUs } = update;
            return {
                name: serving,
                digest,
                drainedUs,
                swappedUs
            };
        },
        Get: (read)=>{
            read();
            const { serving, previous, digest } = edge.get();
            return {
                name: serving,
                digest,
                previous
            };
        }
    });
}

//# sourceMappingURL=weights.js.map