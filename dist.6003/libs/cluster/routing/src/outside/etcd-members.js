import { expecting } from "../../../../ops/errors/src/index.js";
import { nodesOf } from "../../../../ops/etcd/src/index.js";
import { isNodeRole } from "../domain/members.js";
import { PARTITION_COUNT } from "../domain/partition-owners.js";
import { PolledMembership } from "./polled-membership.js";
const invalid = expecting('CONFIG_INVALID');
function partsOf(value) {
    try {
        return Object(JSON.parse(value));
    } catch  {
        return {};
    }
}
/**
 * Undefined for a process that follows the log of the cluster and is no node, or leaves it.
 * @throws TesseraError CONFIG_INVALID for an entry that is no node's
 */ function memberOf(node, value) {
    // A node of an earlier release says no role: it is there for every call.
    const { name, grpc, http, weight, partitionCount, role = 'both', instance } = partsOf(value);
    const hasAddress = typeof grpc === 'string' && typeof http === 'string';
    if (!hasAddress && typeof instance === 'string') return undefined;
    const isNode = hasAddress && name === node && typeof weight === 'number' && isNodeRole(role);
    if (!isNode) {
        const expected = 'a node with its name, addresses, weight and role';
        throw invalid(`nodes/${node}`, expected, value === '' ? 'nothing' : value.slice(0, 100));
    }
    if (partitionCount !== PARTITION_COUNT) {
        throw invalid(`nodes/${node}`, `${PARTITION_COUNT} partitions`, partitionCount);
    }
    return {
        name,
        grpc,
        http,
        weight,
        role
    };
}
/** The nodes that hold a lease in etcd. */ export function etcdMembership(etcd, cluster) {
    const prefix = nodesOf(cluster);
    return new PolledMembership('cluster.etcd', async (skip)=>{
        const entries = await etcd.entriesUnder(prefix);
        // Of two processes at one address the later one has it.
        const latest = [
            ...entries
        ].sort((a, b)=>Number(b.created) - Number(a.created));
        return latest.flatMap(({ key, value })=>{
            try {
                return memberOf(key.slice(prefix.length), value.toString()) ?? [];
            } catch (thrown) {
                skip(thrown);
                return [];
            }
        });
    });
}
/**
 * From now on this process is among the members of its cluster, for as long as it keeps its key.
 * Rejects with CONFIG_INVALID where another process keeps the name, and STORE_UNAVAILABLE where
 * etcd is away.
 */ export async function joinMembers(nodeKey, member) {
    const { name, grpc, http, weight, role = 'both' } = member;
    await nodeKey.put({
        name,
        grpc,
        http,
        weight,
        role,
        partitionCount: PARTITION_COUNT
    });
}
/** No gateway sends calls any more; the process may go on to follow the log. */ export async function leaveMembers(nodeKey) {
    await nodeKey.put({
        grpc: null,
        http: null
    });
}

//# sourceMappingURL=etcd-members.js.map