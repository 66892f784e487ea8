import { CALL_ROLES, type CallRole, isOfRole, type Member } from './members.js';
import { PARTITION_COUNT, PartitionOwners } from './partition-owners.js';
import { xxh32 } from './xxh32.js';

const encoder = new TextEncoder();

/** Partition of a user: XXH32 of the UTF-8 bytes of their ID, modulo the partitions. */
export function partitionOf(user: string | Uint8Array): number {
  return xxh32(typeof user === 'string' ? encoder.encode(user) : user) % PARTITION_COUNT;
}

/** The owners among the nodes of one role, and the places of these among all members. */
interface RoleOwners {
  readonly owners: PartitionOwners;
  readonly places: readonly number[];
}

/**
 * Owner of each partition, by the role of a call: a pure function of the names and weights of the
 * nodes of that role, so that all who know the same members agree without asking, and a node of
 * the other role moves nobody. Nodes are indices into `members`, which are in the order of names.
 */
export class RoutingTable {
  readonly members: readonly Member[];
  /** Digest of names, weights and roles: equal on all who route alike. */
  readonly digest: string;
  private readonly indices: ReadonlyMap<string, number>;
  private readonly byRole: Readonly<Record<CallRole, RoleOwners>>;

  /**
   * `members`: checked. `revision`: of the membership, for people; each change is one. `before`: a
   * table of nearly the same members, of which what they have in common is taken over: the result
   * is the same, and one node more or less of a thousand costs a hundredth.
   */
  constructor(
    members: readonly Member[],
    readonly revision: number,
    before?: RoutingTable,
  ) {
    this.members = members;
    this.indices = new Map(members.map(({ name }, node) => [name, node]));
    this.digest = digestOf(members);
    const answer = ownersOf('answer', members, before?.byRole.answer);
    // One table serves both where every node does.
    const isOne = members.every(({ role = 'both' }) => role === 'both');
    const append = isOne ? answer : ownersOf('append', members, before?.byRole.append);
    this.byRole = { answer, append };
  }

  /** Index of a node by its name; -1: unknown. */
  indexOf(name: string): number {
    return this.indices.get(name) ?? -1;
  }

  /** Bytes of what is kept per partition. */
  get bytes(): number {
    const owners = new Set(CALL_ROLES.map((role) => this.byRole[role].owners));
    return [...owners].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The owner (place 0) or a successor of a partition; undefined where there are fewer nodes. */
  nodeAt(partition: number, place: number, role: CallRole = 'answer'): number | undefined {
    const { owners, places } = this.byRole[role];
    const node = owners.nodeAt(partition, place);
    return node === undefined ? undefined : places[node];
  }

  /** All nodes of a role in a partition's order: for when those that are kept are away. */
  order(partition: number, role: CallRole = 'answer'): readonly number[] {
    const { owners, places } = this.byRole[role];
    return owners.order(partition).map((node) => places[node] as number);
  }

  /** Partitions that each node owns; 0 where it is of the other role. */
  ownedCounts(role: CallRole = 'answer'): readonly number[] {
    const { owners, places } = this.byRole[role];
    const counts = this.members.map(() => 0);
    for (const [node, count] of owners.ownedCounts().entries()) {
      counts[places[node] as number] = count;
    }
    return counts;
  }
}

function ownersOf(role: CallRole, members: readonly Member[], before?: RoleOwners): RoleOwners {
  const places = [...members.keys()].filter((node) => isOfRole(members[node] as Member, role));
  const own = places.map((node) => members[node] as Member);
  return { owners: new PartitionOwners(own, before?.owners), places };
}

/** A role is part of it where it is not both, so that releases without roles agree. */
function digestOf(members: readonly Member[]): string {
  const named = members.map(({ name, weight, role = 'both' }) =>
    role === 'both' ? [name, weight] : [name, weight, role],
  );
  const hash = xxh32(encoder.encode(JSON.stringify(named)));
  return hash.toString(16).padStart(8, '0');
}
