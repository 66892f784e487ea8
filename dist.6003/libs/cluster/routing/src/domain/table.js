import { CALL_ROLES, isOfRole } from "./members.js";
import { PARTITION_COUNT, PartitionOwners } from "./partition-owners.js";
import { xxh32 } from "./xxh32.js";
const encoder = new TextEncoder();
/** Partition of a user: XXH32 of the UTF-8 bytes of their ID, modulo the partitions. */ export function partitionOf(user) {
    return xxh32(typeof user === 'string' ? encoder.encode(user) : user) % PARTITION_COUNT;
}
/**
 * Owner of each partition, by the role of a call: a pure function of the names and weights of the
 * nodes of that role, so that all who know the same members agree without asking, and a node of
 * the other role moves nobody. Nodes are indices into `members`, which are in the order of names.
 */ export class RoutingTable {
    revision;
    members;
    /** Of names, weights and roles: equal on all who route alike. */ digest;
    indices;
    byRole;
    /**
   * `members`: checked. `revision`: of the membership, for people; each change is one. `before`: a
   * table of nearly the same members, of which what they have in common is taken over: the result
   * is the same, and one node more or less of a thousand costs a hundredth.
   */ constructor(members, revision, before){
        this.revision = revision;
        this.members = members;
        this.indices = new Map(members.map(({ name }, node)=>[
                name,
                node
            ]));
        this.digest = digestOf(members);
        const answer = ownersOf('answer', members, before?.byRole.answer);
        // One table serves both where every node does.
        const isOne = members.every(({ role = 'both' })=>role === 'both');
        const append = isOne ? answer : ownersOf('append', members, before?.byRole.append);
        this.byRole = {
            answer,
            append
        };
    }
    /** Of a node by its name; -1: it is none of these. */ indexOf(name) {
        return this.indices.get(name) ?? -1;
    }
    /** Bytes of what is kept per partition. */ get bytes() {
        const owners = new Set(CALL_ROLES.map((role)=>this.byRole[role].owners));
        return [
            ...owners
        ].reduce((sum, { bytes })=>sum + bytes, 0);
    }
    /** The owner (place 0) or a successor of a partition; undefined where there are fewer nodes. */ nodeAt(partition, place, role = 'answer') {
        const { owners, places } = this.byRole[role];
        const node = owners.nodeAt(partition, place);
        return node === undefined ? undefined : places[node];
    }
    /** All nodes of a role in a partition's order: for when those that are kept are away. */ order(partition, role = 'answer') {
        const { owners, places } = this.byRole[role];
        return owners.order(partition).map((node)=>places[node]);
    }
    /** Partitions that each node owns; 0 where it is of the other role. */ ownedCounts(role = 'answer') {
        const { owners, places } = this.byRole[role];
        const counts = this.members.map(()=>0);
        for (const [node, count] of owners.ownedCounts().entries()){
            counts[places[node]] = count;
        }
        return counts;
    }
}
function ownersOf(role, members, before) {
    const places = [
        ...members.keys()
    ].filter((node)=>isOfRole(members[node], role));
    const own = places.map((node)=>members[node]);
    return {
        owners: new PartitionOwners(own, before?.owners),
        places
    };
}
/** A role is part of it where it is not both, so that releases without roles agree. */ function digestOf(members) {
    const named = members.map(({ name, weight, role = 'both' })=>role === 'both' ? [
            name,
            weight
        ] : [
            name,
            weight,
            role
        ]);
    const hash = xxh32(encoder.encode(JSON.stringify(named)));
    return hash.toString(16).padStart(8, '0');
}

//# sourceMappingURL=table.js.map