import { TesseraError } from "../../../ops/errors/src/index.js";
import { checkedMembers } from "../../../cluster/routing/src/index.js";
import { askEdge } from "./edge-call.js";
const ANSWER_MS_MAX = 2000;
/**
 * State of a gateway's cluster. `address`: HOST:PORT of its HTTP edge. Rejects with
 * NODE_UNAVAILABLE.
 */ export async function clusterState(address, connection) {
    const call = {
        method: 'GET',
        address,
        path: '/v1/cluster',
        timeoutMs: ANSWER_MS_MAX
    };
    try {
        const state = await askEdge(call, connection);
        checkedMembers(state.nodes, 'nodes');
        return state;
    } catch (cause) {
        const message = `gateway: expected its nodes, got: ${cause.message}`;
        throw new TesseraError('NODE_UNAVAILABLE', message, {
            cause
        });
    }
}
/** Where the requests of a user go, as a gateway knows it. Rejects with NODE_UNAVAILABLE. */ export async function userRoute(address, userId, connection) {
    const path = '/v1/cluster/route';
    const call = {
        method: 'POST',
        address,
        path,
        body: {
            userId
        },
        timeoutMs: ANSWER_MS_MAX
    };
    try {
        return await askEdge(call, connection);
    } catch (cause) {
        const message = `gateway: expected the owner of a user, got: ${cause.message}`;
        throw new TesseraError('NODE_UNAVAILABLE', message, {
            cause
        });
    }
}

//# sourceMappingURL=cluster-state.js.map