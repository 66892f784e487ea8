import { parseRedisNodes, RedisLink } from "../../../../ops/redis/src/index.js";
const FIELD = 'cluster.logRedis';
const ANSWER_MS = 5000;
const PAGE = 256;
/**
 * Continues the log of release 0.1, a stream of Redis, in etcd: same identity, same offsets. The
 * stream is renamed first, so that nodes of that release follow and append no more. Nothing where
 * etcd has a log already, or Redis has none. May be repeated. Rejects with STORE_UNAVAILABLE, and
 * CONFIG_INVALID for an address or user that is refused.
 */ export async function takeOverRedisLog(log, { name, ...address }, nodeLog) {
    if ((await log.bounds()).identity !== '') return;
    const [stream, moved] = [
        `{${name}}:log`,
        `{${name}}:log:moved`
    ];
    const link = linkOf(address);
    const ask = (command)=>link.call(command);
    try {
        const identity = await ask((redis)=>redis.get(`${stream}:identity`));
        if (identity === null) return;
        // Of several that take it over one renames it.
        await ask((redis)=>redis.rename(stream, moved)).catch((thrown)=>{
            if (!/no such key/.test(thrown.message)) throw thrown;
        });
        const from = async (offset)=>{
            const found = await ask((redis)=>redis.xrangeBuffer(moved, `${offset}-0`, '+', 'COUNT', PAGE));
            return found.map(([id, fields])=>entryOf(id, fields));
        };
        const end = await log.adopt(identity, from);
        nodeLog.warn({
            end,
            moved
        }, 'the cluster log of Redis is continued in etcd');
    } finally{
        link.close();
    }
}
function linkOf({ address, security }) {
    const nodes = parseRedisNodes(FIELD, address);
    return new RedisLink({
        nodes,
        isCluster: nodes.length > 1,
        isTls: security?.tls !== undefined,
        security,
        field: FIELD,
        place: `Redis at ${address}`,
        timeoutMs: ANSWER_MS,
        scripts: {}
    });
}
function entryOf(id, fields) {
    const [, atMs, , bytes = Buffer.of()] = fields;
    return {
        offset: Number.parseInt(id.toString(), 10),
        atMs: Number(atMs),
        bytes
    };
}

//# sourceMappingURL=redis-takeover.js.map