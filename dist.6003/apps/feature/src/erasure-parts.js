import { peerConnection, TesseraClient } from "../../../libs/edge/client/src/index.js";
import { PendingErasures } from "../../../libs/service/erasure/src/index.js";
import { expecting } from "../../../libs/ops/errors/src/index.js";
import { isNodeRole } from "../../../libs/cluster/routing/src/index.js";
const invalid = expecting('CONFIG_INVALID');
/** Erasures that an earlier process left, and where those of this one are remembered. */ export function pendingErasuresOf({ behaviours }) {
    return PendingErasures.open(`${behaviours.path}.erasures`);
}
/**
 * The other processes that hold something of users.
 * @throws TesseraError CONFIG_INVALID
 */ export function retrievalPools({ behaviours, peer }) {
    const connection = peerConnection(peer);
    return behaviours.retrieval.split(',').map((word)=>word.trim()).filter((word)=>word !== '').map((word)=>{
        const { address, role } = poolOf(word);
        return {
            address,
            role,
            client: new TesseraClient(address, {
                connection
            })
        };
    });
}
/** HOST:PORT, with `@append` or `@answer` behind where it is the address of such a node. */ function poolOf(word) {
    const [address = '', role = 'both', ...more] = word.split('@');
    if (address !== '' && more.length === 0 && isNodeRole(role)) return {
        address,
        role
    };
    throw invalid('behaviours.retrieval', 'HOST:PORT, with @append or @answer or without', word);
}

//# sourceMappingURL=erasure-parts.js.map