/** Entries that no process of the cluster has written, put into its log by hand. */ import { randomUUID } from "node:crypto";
import { kafkaSecurity, loadConfig } from "../../libs/ops/config/src/index.js";
import { Etcd, NodeKey } from "../../libs/ops/etcd/src/index.js";
import { EtcdLog, KafkaLog } from "../../libs/cluster/log/src/index.js";
/** As cluster.name is where nothing is said. */ const NAME = 'tessera';
const AT_ONCE = 256;
export function entryText({ key, kind, body, format = 2 }) {
    const head = {
        format,
        key,
        node: 'nobody',
        kind,
        stored: ''
    };
    return Buffer.from(`${JSON.stringify(head)}\n${JSON.stringify(body)}`);
}
/** The log of a cluster, beside its processes; `act` is done with it. */ export async function withLog({ log: { address }, kind }, act) {
    const security = kafkaSecurity(loadConfig().config);
    const log = kind === 'kafka' ? await KafkaLog.open({
        brokers: address,
        name: NAME,
        security
    }) : new EtcdLog(new NodeKey(new Etcd(address), NAME, `by hand ${randomUUID()}`));
    try {
        return await act(log);
    } finally{
        await log.close();
    }
}
/** The point that every entry of the log is behind. */ export async function beginningOf(log) {
    return {
        offset: 0,
        chain: (await log.bounds()).identity
    };
}
/** So many entries that change nothing. */ export async function appendIdle(cluster, count) {
    const kind = 'drop-version';
    await withLog(cluster, async (log)=>{
        const after = await beginningOf(log);
        for(let begun = 0; begun < count; begun += AT_ONCE){
            const many = Array.from({
                length: Math.min(AT_ONCE, count - begun)
            }, (_, n)=>log.append(entryText({
                    key: `idle ${begun + n}`,
                    kind,
                    body: {
                        version: 'none'
                    }
                }), after));
            await Promise.all(many);
        }
    });
}

//# sourceMappingURL=appended-entries.js.map