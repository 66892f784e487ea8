import { FETCH_TIMEOUT_MS } from '@tessera/adapter';
import { type Config, kafkaSecurity, redisSecurity } from '@tessera/config';
import { type ClusterLog, type EntryStore, KafkaLog, openEntryStore, RedisLog } from '@tessera/log';
import type { Log } from '@tessera/telemetry';

/** The log of this process's cluster. */
export interface OpenedLog {
  readonly log: ClusterLog;
  readonly store: EntryStore;
}

/**
 * Undefined where this process is the only one. Opens also while the server is away. Rejects with
 * CONFIG_INVALID.
 */
export async function openClusterLog(config: Config, log: Log): Promise<OpenedLog | undefined> {
  const { cluster } = config;
  if (cluster.log === 'none') return undefined;
  const store = await openEntryStore(cluster.logStore, {
    ...config.buckets,
    timeoutMs: FETCH_TIMEOUT_MS,
  });
  return { log: await logOf(config, log), store };
}

function logOf(config: Config, log: Log): Promise<ClusterLog> {
  const { cluster, kafka } = config;
  const { name } = cluster;
  if (cluster.log === 'redis') {
    const security = redisSecurity(config, cluster.logRedis);
    return RedisLog.open({ address: cluster.logRedis, name, security }, log);
  }
  const { brokers } = kafka;
  const security = kafkaSecurity(config);
  return KafkaLog.open({ brokers, name, security }, log);
}
