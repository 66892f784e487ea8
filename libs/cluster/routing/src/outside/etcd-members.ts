import { expecting } from '@tessera/errors';
import { type Etcd, type NodeKey, nodesOf } from '@tessera/etcd';
import { isNodeRole, type Member } from '../domain/members.js';
import { PARTITION_COUNT } from '../domain/partition-owners.js';
import { PolledMembership } from './polled-membership.js';

const invalid = expecting('CONFIG_INVALID');

interface Entry extends Member {
  readonly partitionCount: number;
}

/** [] for a process that follows the log of the cluster and is no node, or leaves it. */
function entriesOf(value: string): Entry[] {
  const entry = JSON.parse(value) as Partial<Entry>;
  const { name, grpc, http, weight, partitionCount, role = 'both' } = entry;
  if (typeof grpc !== 'string' || typeof http !== 'string') return [];
  if (partitionCount !== PARTITION_COUNT) {
    throw invalid(`cluster.etcd: ${name}`, `${PARTITION_COUNT} partitions`, partitionCount);
  }
  if (typeof name !== 'string' || typeof weight !== 'number' || !isNodeRole(role)) {
    throw invalid('cluster.etcd', 'a node with name, weight and role', value);
  }
  return [{ name, grpc, http, weight, role, partitionCount }];
}

/** The nodes that hold a lease in etcd. */
export function etcdMembership(etcd: Etcd, cluster: string): PolledMembership {
  return new PolledMembership('cluster.etcd', async () => {
    const values = await etcd.valuesUnder(nodesOf(cluster));
    // A node of an earlier release says no role: it is there for every call.
    return values.flatMap(entriesOf).map(({ name, grpc, http, weight, role }) => ({
      name,
      grpc,
      http,
      weight,
      role: role ?? 'both',
    }));
  });
}

/**
 * From now on this process is among the members of its cluster, for as long as it keeps its key.
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
