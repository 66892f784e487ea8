import { FETCH_TIMEOUT_MS } from "../../../libs/service/adapter/src/index.js";
import { etcdSecurity, kafkaSecurity, redisSecurity } from "../../../libs/ops/config/src/index.js";
import { TesseraError } from "../../../libs/ops/errors/src/index.js";
import { Etcd, NodeKey } from "../../../libs/ops/etcd/src/index.js";
import { EtcdLog, KafkaLog, openEntryStore, takeOverRedisLog } from "../../../libs/cluster/log/src/index.js";
import { untilThere } from "../../../libs/cluster/node/src/index.js";
/** Opens also while servers are away. Rejects with CONFIG_INVALID. */ export async function openClusterLog(config, log) {
    const { cluster, node } = config;
    const nodeKey = cluster.etcd === '' ? undefined : new NodeKey(new Etcd(cluster.etcd, etcdSecurity(config)), cluster.name, node.name);
    if (cluster.log === 'none') return {
        opened: undefined,
        nodeKey
    };
    const store = await openEntryStore(cluster.logStore, {
        ...config.buckets,
        timeoutMs: FETCH_TIMEOUT_MS
    });
    return {
        opened: {
            log: await logOf(config, nodeKey, log),
            store
        },
        nodeKey
    };
}
async function logOf(config, nodeKey, log) {
    const { cluster, kafka } = config;
    const { name } = cluster;
    if (cluster.log === 'kafka') {
        const security = kafkaSecurity(config);
        return KafkaLog.open({
            brokers: kafka.brokers,
            name,
            security
        }, log);
    }
    if (nodeKey !== undefined) return etcdLogOf(config, nodeKey, log);
    const message = 'cluster.etcd: expected HOST:PORT beside cluster.log=etcd, got none';
    throw new TesseraError('CONFIG_INVALID', message, {
        field: 'cluster.etcd'
    });
}
async function etcdLogOf(config, nodeKey, nodeLog) {
    const { logRedis: address, name } = config.cluster;
    const log = new EtcdLog(nodeKey);
    if (address === '') return log;
    const security = redisSecurity(config, address);
    await untilThere({
        nodeLog
    }, ()=>takeOverRedisLog(log, {
            address,
            name,
            security
        }, nodeLog));
    return log;
}

//# sourceMappingURL=cluster-log.js.map