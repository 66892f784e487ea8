import { FETCH_TIMEOUT_MS } from '@tessera/adapter';
import { type Config, etcdSecurity, followsLog } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { Etcd, NodeKey } from '@tessera/etcd';
import { type ClusterLog, type EntryStore, EtcdLog, openEntryStore } from '@tessera/log';

/** The log of this process's cluster, and its key among the nodes in etcd. */
export interface OpenedCluster {
  /** Undefined where this process is the only one. */
  readonly opened: { readonly log: ClusterLog; readonly store: EntryStore } | undefined;
  /** Undefined without etcd. */
  readonly nodeKey: NodeKey | undefined;
}

/** Opens also while servers are away. Rejects with CONFIG_INVALID. */
export function openClusterLog(config: Config): OpenedCluster {
  const { cluster, node } = config;
  const nodeKey =
    cluster.etcd === ''
      ? undefined
      : new NodeKey(new Etcd(cluster.etcd, etcdSecurity(config)), cluster.name, node.name);
  if (!followsLog(config)) return { opened: undefined, nodeKey };
  const store = openEntryStore(cluster.logStore, {
    ...config.buckets,
    timeoutMs: FETCH_TIMEOUT_MS,
  });
  return { opened: { log: logOf(nodeKey), store }, nodeKey };
}

function logOf(nodeKey: NodeKey | undefined): ClusterLog {
  if (nodeKey !== undefined) return new EtcdLog(nodeKey);
  const message = 'cluster.etcd: expected HOST:PORT beside cluster.logStore, got none';
  throw new TesseraError('CONFIG_INVALID', message, { field: 'cluster.etcd' });
}
