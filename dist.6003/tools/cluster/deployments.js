import { parseMembers, RoutingTable } from "../../libs/cluster/routing/src/index.js";
import { envoyConfig } from "./envoy.js";
import { haproxyConfig, haproxyMap } from "./haproxy.js";
/** Outputs of `config`. */ export const DEPLOYMENTS = [
    'haproxy',
    'haproxy-map',
    'envoy'
];
/** Nodes as `npm run cluster` starts them. */ function localNodes(count) {
    return Array.from({
        length: count
    }, (_, at)=>({
            name: `node-${at + 1}`,
            host: '127.0.0.1',
            httpPort: 8081 + at,
            grpcPort: 50_061 + at
        }));
}
function tableOf(nodes) {
    const members = nodes.map(({ name, host, httpPort, grpcPort })=>`${name}=${host}:${grpcPort}/${host}:${httpPort}`);
    return new RoutingTable(parseMembers(members.join()), 1);
}
/** The text of a file, without the end of its last line. */ export function deploymentFile(kind, nodeCount) {
    const nodes = localNodes(nodeCount);
    switch(kind){
        case 'haproxy':
            return haproxyConfig(nodes);
        case 'haproxy-map':
            return haproxyMap(tableOf(nodes));
        case 'envoy':
            return envoyConfig(nodes);
    }
}

//# sourceMappingURL=deployments.js.map