import { etcdSecurity } from "../../../libs/ops/config/src/index.js";
import { expecting } from "../../../libs/ops/errors/src/index.js";
import { Etcd } from "../../../libs/ops/etcd/src/index.js";
import { dnsMembership, etcdMembership, parseMembers, StaticMembership } from "../../../libs/cluster/routing/src/index.js";
const invalid = expecting('CONFIG_INVALID');
/**
 * Where this gateway knows its nodes from.
 * @throws TesseraError CONFIG_INVALID unless exactly one source is named
 */ export function membershipOf({ cluster, peer }) {
    const { nodes, etcd, dns, name } = cluster;
    const named = Object.entries({
        nodes,
        etcd,
        dns
    }).filter(([, value])=>value !== '');
    if (named.length !== 1) {
        const got = named.map(([key])=>`cluster.${key}`).join(' and ');
        const expected = 'one of cluster.nodes, cluster.etcd and cluster.dns';
        throw invalid('cluster', expected, got === '' ? 'none' : got);
    }
    if (nodes !== '') return new StaticMembership(parseMembers(nodes));
    if (dns !== '') return dnsMembership(dns);
    return etcdMembership(new Etcd(etcd, etcdSecurity({
        cluster,
        peer
    })), name);
}
/** Nodes that a gateway should have: those of the list, or the number said; undefined: unknown. */ export function nodesWanted({ cluster }) {
    const { nodes, nodesWanted: said } = cluster;
    return nodes === '' ? said || undefined : parseMembers(nodes).length;
}

//# sourceMappingURL=membership.js.map