import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { NodeAway } from "./node-failure.js";
import { NodeLink } from "./node-link.js";
/** True for the methods that a feature process answers where one is named. */ export const isOfBehaviours = (path)=>path.startsWith('/tessera.behaviour.v1.BehaviourService/');
/** A feature process, by `cluster.behaviours`; undefined: the nodes answer what it would. */ export function behavioursLink(address, connection) {
    if (address === '') return undefined;
    const [grpc = '', http = ''] = address.split('/');
    return new NodeLink({
        name: 'behaviours',
        grpc,
        http,
        weight: 1
    }, connection);
}
/** The fault of the way to the feature process, for callers. */ export function behavioursAway(thrown) {
    if (!(thrown instanceof NodeAway)) return thrown;
    return new TesseraError('STORE_UNAVAILABLE', `cluster.behaviours: ${thrown.message}`);
}
/** Rejects with STORE_UNAVAILABLE where it is away, or its HTTP edge is not named. */ export async function askBehaviours(link, ask) {
    if (link.member.http === '') {
        const message = 'cluster.behaviours: expected GRPC_HOST:PORT/HTTP_HOST:PORT, got no HTTP';
        throw new TesseraError('STORE_UNAVAILABLE', message);
    }
    return link.http(ask).catch((thrown)=>{
        throw behavioursAway(thrown);
    });
}

//# sourceMappingURL=behaviours-link.js.map