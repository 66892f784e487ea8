import { createHash, randomUUID } from "node:crypto";
import { DEFAULT_TOPICS, ServiceClient, TopicClient } from "../../../libs/edge/client/src/index.js";
import { missingFor, startKafkaBroker } from "../../../libs/testing/src/index.js";
import { quantile } from "../../result.js";
import { BenchCluster } from "./bench-cluster.js";
/** Real nodes of the demo behind a gateway: what a user of a cluster gets. */ const NODES = 3;
const SEED = 7;
const DEADLINE_MS = 30_000;
const CALLERS = 12;
/** As many as there are nodes: users stay with their owners where these are not overrun. */ const CALM_CALLERS = 3;
/** Users of models/demo. */ const USERS = Array.from({
    length: 200
}, (_, n)=>String(n + 1));
const HEAVY_SHARE = 0.6;
const RECALLS = 1000;
const CHANGES = 1000;
const CATALOGUE = 'tessera.catalogue.v1.CatalogueService';
/** Of all nodes together: less than the users take, so that it matters who keeps whom. */ const POOL_BYTES = 24 << 20;
function generator(seed) {
    let state = seed;
    return ()=>{
        state = Math.imul(state, 1_664_525) + 1_013_904_223 >>> 0;
        return state / 2 ** 32;
    };
}
/** So many recalls by callers that each wait for theirs. */ async function recalls(count, ask, onAnswer, callers = CALLERS) {
    let begun = 0;
    let failed = 0;
    const caller = async ()=>{
        for(let turn = begun++; turn < count; turn = begun++){
            const from = performance.now();
            try {
                onAnswer(await ask(turn), performance.now() - from, turn);
            } catch  {
                failed += 1;
            }
        }
    };
    await Promise.all(Array.from({
        length: callers
    }, caller));
    return failed;
}
/** Share of the prompts' tokens whose keys and values were found. */ async function foundShare(count, clientOf) {
    const random = generator(SEED);
    const users = Array.from({
        length: count
    }, ()=>{
        // Some users come back much more often than others.
        return USERS[Math.floor(USERS.length * random() ** 2)];
    });
    let [found, asked] = [
        0,
        0
    ];
    const ask = (turn)=>clientOf(turn).recall({
            userId: users[turn],
            resultCount: 5
        }, DEADLINE_MS);
    const note = ({ kv, promptTokens }, _ms, turn)=>{
        // The first visits fill the pools.
        if (turn < count / 4) return;
        for (const tokens of Object.values(kv?.tokensByTier ?? {}))found += tokens;
        asked += promptTokens;
    };
    const failed = await recalls(count, ask, note, CALM_CALLERS);
    if (failed > 0) throw new Error(`expected every recall to be answered, got ${failed} that failed`);
    return found / asked;
}
const POOL = {
    TESSERA_KV_DEVICE_BYTES: String(POOL_BYTES),
    TESSERA_KV_HOST_BYTES: '0',
    TESSERA_KV_DISK_BYTES: '0'
};
async function keysAndValues({ quick, say }) {
    const count = quick ? 1000 : 6000;
    const shareOf = async (nodes, isRandom)=>{
        const cluster = await BenchCluster.start(nodes, POOL);
        const { client, nodeClients } = cluster;
        const random = generator(SEED + 1);
        const any = ()=>nodeClients[Math.floor(nodes * random())];
        try {
            return await foundShare(count, isRandom ? any : ()=>client);
        } finally{
            await cluster.end();
        }
    };
    say(`${count} recalls before one pool, three and three at random`);
    const one = await shareOf(1, false);
    const three = await shareOf(NODES, false);
    const atRandom = await shareOf(NODES, true);
    const percent = (value)=>({
            value: 100 * value,
            unit: '%'
        });
    return [
        {
            name: 'tokens found: one pool of the same memory',
            ...percent(one),
            bar: null
        },
        {
            name: 'tokens found: 3 nodes',
            ...percent(three),
            ratio: {
                value: three / one,
                to: 'one pool'
            },
            bar: 0.95
        },
        {
            name: 'tokens found: 3 nodes, users at random',
            ...percent(atRandom),
            ratio: {
                value: atRandom / one,
                to: 'one pool'
            },
            bar: null
        }
    ];
}
/** One user who asks for most of what is asked, and everybody else. */ async function heavyUser({ client }, count) {
    const p99Of = async (heavyShare)=>{
        const random = generator(SEED);
        const others = [];
        const users = Array.from({
            length: count
        }, ()=>{
            const other = USERS[1 + Math.floor((USERS.length - 1) * random())];
            return random() < heavyShare ? USERS[0] : other;
        });
        const ask = (turn)=>client.recall({
                userId: users[turn],
                resultCount: 5
            }, DEADLINE_MS);
        await recalls(count, ask, (_answer, ms, turn)=>{
            if (users[turn] !== USERS[0]) others.push(ms);
        });
        return quantile(others, 0.99);
    };
    await p99Of(0);
    const alone = await p99Of(0);
    const beside = await p99Of(HEAVY_SHARE);
    return [
        {
            name: 'p99 without a heavy user',
            value: alone,
            unit: 'ms',
            bar: null
        },
        {
            name: 'p99 of others beside a user with 60 %',
            value: beside,
            unit: 'ms',
            ratio: {
                value: beside / alone,
                to: 'without'
            },
            bar: 1.5,
            bound: 'at-most'
        }
    ];
}
/** Changes one by one under recalls: what each answer may have, and what nodes end with. */ async function changes(cluster) {
    const gateway = new ServiceClient(CATALOGUE, cluster.grpcAddress);
    const ids = [];
    for await (const { items } of gateway.stream('ListItems', {})){
        ids.push(...items.map(({ itemId })=>itemId));
    }
    /** Sequences from which on an item is paused, until the next in the list. */ const paused = new Map();
    let isOver = false;
    const answers = [];
    const asking = USERS.slice(0, CALLERS).map(async (userId)=>{
        while(!isOver)answers.push(await cluster.client.recall({
            userId
        }, DEADLINE_MS));
    });
    const from = performance.now();
    for(let n = 0; n < CHANGES; n += 1){
        const itemId = ids[Math.floor(n / 2)];
        const change = n % 2 === 0 ? {
            pauseItemId: itemId
        } : {
            resumeItemId: itemId
        };
        const { sequence } = await gateway.call('Apply', {
            changes: [
                change
            ]
        });
        paused.set(itemId, [
            ...paused.get(itemId) ?? [],
            sequence
        ]);
    }
    const seconds = (performance.now() - from) / 1000;
    isOver = true;
    await Promise.all(asking);
    gateway.close();
    const wrong = answers.filter(({ items, versions })=>{
        const known = versions?.catalogueSequence ?? 0;
        return items.some(({ itemId })=>{
            const [at = Number.POSITIVE_INFINITY, until = Number.POSITIVE_INFINITY] = paused.get(itemId) ?? [];
            return known >= at && known < until;
        });
    });
    const digests = await catalogueDigests(cluster);
    const none = {
        unit: 'answers',
        bar: 0,
        bound: 'at-most'
    };
    const one = {
        unit: 'digests',
        bar: 1,
        bound: 'at-most'
    };
    return [
        {
            name: `${CHANGES} changes to 3 nodes`,
            value: CHANGES / seconds,
            unit: '1/s',
            bar: null
        },
        {
            name: 'catalogues of 3 nodes after them',
            value: digests.size,
            ...one
        },
        {
            name: `wrong of ${answers.length} answers meanwhile`,
            value: wrong.length,
            ...none
        }
    ];
}
async function catalogueDigests({ httpUrl }) {
    const state = await (await fetch(`${httpUrl}/v1/cluster`)).json();
    const digests = new Set();
    for (const { grpc } of state.nodes){
        const node = new ServiceClient(CATALOGUE, grpc);
        const hash = createHash('sha256');
        for await (const { items, sequence } of node.stream('ListItems', {})){
            hash.update(JSON.stringify([
                sequence,
                items
            ]));
        }
        digests.add(hash.digest('hex'));
        node.close();
    }
    return digests;
}
/** kill -9 of a node under load: how long until its users are answered, and what fails. */ async function killed(cluster) {
    const users = USERS.slice(0, 60);
    const mine = new Set();
    for (const userId of users)if (await cluster.ownerOf(userId) === 'node-2') mine.add(userId);
    const firstMs = new Map();
    let killedMs = Number.POSITIVE_INFINITY;
    let failed = 0;
    const caller = async (at)=>{
        for(let turn = at; firstMs.size < mine.size; turn += CALLERS){
            const userId = users[turn % users.length];
            const from = performance.now();
            try {
                await cluster.client.recall({
                    userId,
                    resultCount: 5
                }, DEADLINE_MS);
                const isAfter = from >= killedMs && mine.has(userId) && !firstMs.has(userId);
                if (isAfter) firstMs.set(userId, performance.now() - killedMs);
            } catch  {
                failed += 1;
            }
        }
    };
    const callers = Array.from({
        length: CALLERS
    }, (_, at)=>caller(at));
    await cluster.client.recall({
        userId: '1'
    }, DEADLINE_MS);
    killedMs = performance.now();
    cluster.kill('node-2');
    await Promise.all(callers);
    const last = Math.max(...firstMs.values()) / 1000;
    const none = {
        unit: 'answers',
        bar: 0,
        bound: 'at-most'
    };
    return [
        {
            name: 'failed beside a kill -9',
            value: failed,
            ...none
        },
        {
            name: 'until all its users were answered',
            value: last,
            unit: 's',
            bar: 3,
            bound: 'at-most'
        }
    ];
}
async function overTopic(address) {
    const client = await TopicClient.open({
        brokers: [
            address
        ],
        ...DEFAULT_TOPICS
    });
    const from = performance.now();
    const asked = Array.from({
        length: RECALLS
    }, (_, n)=>{
        const userId = USERS[n % USERS.length];
        return client.recall({
            userId,
            requestId: randomUUID(),
            resultCount: 5
        }, 4 * DEADLINE_MS);
    });
    const all = await Promise.allSettled(asked);
    const seconds = (performance.now() - from) / 1000;
    await client.close();
    const answered = all.filter(({ status })=>status === 'fulfilled').length;
    return [
        {
            name: `answers to ${RECALLS} recalls over Kafka`,
            value: answered,
            unit: '',
            bar: RECALLS
        },
        {
            name: 'recalls over Kafka',
            value: RECALLS / seconds,
            unit: '1/s',
            bar: null
        }
    ];
}
/** Three nodes and a gateway, one after the other through what a cluster goes through. */ export async function served(context) {
    const { quick, say } = context;
    const measurements = await keysAndValues(context);
    const missing = missingFor([
        'kafka'
    ]);
    if (missing.length > 0) say(`no recalls over Kafka: ${missing.join()} is missing`);
    const broker = missing.length > 0 ? undefined : await startKafkaBroker();
    const cluster = await BenchCluster.start(NODES, {}, broker?.address);
    try {
        say('one user asks for 60 %');
        measurements.push(...await heavyUser(cluster, quick ? 1000 : 10_000));
        if (broker !== undefined) {
            say(`${RECALLS} recalls over Kafka`);
            measurements.push(...await overTopic(broker.address));
        }
        say(`${CHANGES} changes under recalls`);
        measurements.push(...await changes(cluster));
        say('a node is killed');
        measurements.push(...await killed(cluster));
        return measurements;
    } finally{
        await cluster.end();
        await broker?.stop();
    }
}

//# sourceMappingURL=served.js.map