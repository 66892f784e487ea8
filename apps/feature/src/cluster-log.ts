import { FETCH_TIMEOUT_MS } from '@tessera/adapter';
import { type Config, etcdSecurity, kafkaSecurity, redisSecurity } from '@tessera/config';
import { TesseraError } from '@tessera/errors';
import { Etcd, NodeKey } from '@tessera/etcd';
import {
  type ClusterLog,
  type EntryStore,
  EtcdLog,
  KafkaLog,
  openEntryStore,
  takeOverRedisLog,
} from '@tessera/log';
import { untilThere } from '@tessera/node';
import type { Log } from '@tessera/telemetry';

/** The log of this process's cluster, and its key among the nodes in etcd. */
export interface OpenedCluster {
  /** Undefined where this process is the only one. */
  readonly opened: { readonly log: ClusterLog; readonly store: EntryStore } | undefined;
  /** Undefined without etcd. */
  readonly nodeKey: NodeKey | undefined;
}

/** Opens also while servers are away. Rejects with CONFIG_INVALID. */
export async function openClusterLog(config: Config, log: Log): Promise<OpenedCluster> {
  const { cluster, node } = config;
  const nodeKey =
    cluster.etcd === ''
      ? undefined
      : new NodeKey(new Etcd(cluster.etcd, etcdSecurity(config)), cluster.name, node.name);
  if (cluster.log === 'none') return { opened: undefined, nodeKey };
  const store = await openEntryStore(cluster.logStore, {
    ...config.buckets,
    timeoutMs: FETCH_TIMEOUT_MS,
  });
  return { opened: { log: await logOf(config, nodeKey, log), store }, nodeKey };
}

async function logOf(config: Config, nodeKey: NodeKey | undefined, log: Log): Promise<ClusterLog> {
  const { cluster, kafka } = config;
  const { name } = cluster;
  if (cluster.log === 'kafka') {
    const security = kafkaSecurity(config);
    return KafkaLog.open({ brokers: kafka.brokers, name, security }, log);
  }
  if (nodeKey !== undefined) return etcdLogOf(config, nodeKey, log);
  const message = 'cluster.etcd: expected HOST:PORT beside cluster.log=etcd, got none';
  throw new TesseraError('CONFIG_INVALID', message, { field: 'cluster.etcd' });
}

async function etcdLogOf(config: Config, nodeKey: NodeKey, nodeLog: Log): Promise<EtcdLog> {
  const { logRedis: address, name } = config.cluster;
  const log = new EtcdLog(nodeKey);
  if (address === '') return log;
  const security = redisSecurity(config, address);
  await untilThere({ nodeLog }, () => takeOverRedisLog(log, { address, name, security }, nodeLog));
  return log;
}
