import { expecting } from '@tessera/errors';
import { type Etcd, type NodeKey, nodesOf } from '@tessera/etcd';
import { isNodeRole, type Member } from '../domain/members.js';
import { PARTITION_COUNT } from '../domain/partition-owners.js';
import { PolledMembership } from './polled-membership.js';

const invalid = expecting('CONFIG_INVALID');

interface Entry extends Member {
  readonly partitionCount: number;
  readonly instance: string;
}

function partsOf(value: string): Partial<Entry> {
  try {
    return Object(JSON.parse(value));
  } catch {
    return {};
  }
}

/**
 * Undefined for a process that follows the log of the cluster and is no node, or leaves it.
 * @throws TesseraError CONFIG_INVALID for an entry that is no node's
 */
function memberOf(node: string, value: string): Member | undefined {
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
  return { name, grpc, http, weight, role };
}

/** Name of the node that has said that it is at an address; undefined: none has. */
export type OwnerOf = (address: string) => string | undefined;

/** The nodes in etcd. Of two at one address that has it which says so itself. */
export function etcdMembership(
  etcd: Etcd,
  cluster: string,
  ownerOf: OwnerOf = () => undefined,
): PolledMembership {
  const prefix = nodesOf(cluster);
  return new PolledMembership('cluster.etcd', async (skip) => {
    const entries = await etcd.entriesUnder(prefix);
    // Among other claims the latest one wins.
    const latest = [...entries].sort((a, b) => Number(b.created) - Number(a.created));
    const members = latest.flatMap(({ key, value }) => {
      try {
        return memberOf(key.slice(prefix.length), value.toString()) ?? [];
      } catch (thrown) {
        skip(thrown);
        return [];
      }
    });
    const isOwner = ({ name, grpc, http }: Member) =>
      ownerOf(http) === name || ownerOf(grpc) === name;
    return [...members.filter(isOwner), ...members.filter((member) => !isOwner(member))];
  });
}

/**
 * Adds this process to the members of its cluster, for as long as it keeps its key.
 * Rejects with CONFIG_INVALID where another process keeps the name, and STORE_UNAVAILABLE where
 * etcd is away.
 */
export async function joinMembers(nodeKey: NodeKey, member: Member): Promise<void> {
  const { name, grpc, http, weight, role = 'both' } = member;
  await nodeKey.put({ name, grpc, http, weight, role, partitionCount: PARTITION_COUNT });
}

/** No gateway sends calls any more; the process may go on to follow the log. */
export async function leaveMembers(nodeKey: NodeKey): Promise<void> {
  await nodeKey.put({ grpc: null, http: null });
}
