import { setTimeout as after } from "node:timers/promises";
import { EmbeddedBehaviourLog, parseRetention, RedisBehaviourLog } from "../../../libs/service/behaviour/src/index.js";
import { DEFAULT_TOPICS } from "../../../libs/edge/client/src/index.js";
import { behaviourEventsPackage, protoSchema } from "../../../libs/ops/contracts/src/index.js";
import { ensureTopics, kafkaClient, MessageCodec, RecordProducer } from "../../../libs/ops/kafka/src/index.js";
import { createLog } from "../../../libs/ops/telemetry/src/index.js";
import { startRedisServer, temporaryFolder } from "../../../libs/testing/src/index.js";
import { ServiceChild } from "./service-child.js";
const STORES = [
    'embedded',
    'redis'
];
const USERS = 1000;
/** Of one call, and of one write to the topic. */ const EVENTS_PER_CALL = 64;
/** As many as the service takes of six partitions at a time. */ const CALLS_AT_ONCE = 6;
const PARTITIONS = 6;
const POLL_MS = 20;
const ADDED = 'tessera_behaviours_total{edge="kafka",outcome="added"}';
/** Behaviours that each store takes, every one on its disk before it is acknowledged. */ export async function ingest(context, broker) {
    const { quick, say } = context;
    const count = quick ? 10_000 : 200_000;
    const measurements = [];
    for (const store of STORES){
        const folder = temporaryFolder({});
        const redis = await startRedisServer();
        const places = {
            path: `${folder.path}/store`,
            redis: redis.address
        };
        try {
            say(`${store}: ${count} behaviours by appends of ${EVENTS_PER_CALL}`);
            const log = await openLog(store, {
                ...places,
                path: `${folder.path}/direct`
            });
            const direct = await appended(log, count);
            await log.close();
            say(`${store}: ${count} behaviours through the topic`);
            const topic = await throughTopic(store, places, broker, count);
            measurements.push({
                name: `${store}, by append`,
                value: direct,
                unit: 'behaviours/s',
                bar: null
            }, {
                name: `${store}, through the topic`,
                value: topic,
                unit: 'behaviours/s',
                ratio: {
                    value: topic / direct,
                    to: 'append'
                },
                bar: null
            });
        } finally{
            await redis.stop();
            folder.remove();
        }
    }
    return measurements;
}
function openLog(store, { path, redis }) {
    const retention = parseRetention('*=10000');
    return store === 'redis' ? RedisBehaviourLog.open({
        address: redis,
        keyPrefix: 'd:',
        retention,
        nowMs: Date.now
    }) : EmbeddedBehaviourLog.open({
        path,
        retention,
        nowMs: Date.now
    });
}
function eventAt(at, startMs) {
    return {
        userId: `user ${at * 7919 % USERS}`,
        eventId: `${startMs}/${at}`,
        itemId: String(at % 700),
        action: 'click',
        timeMs: startMs + at,
        scene: {
            page: 'home'
        }
    };
}
/** Times lie in the past: no clock is ahead. */ function batches(count) {
    const startMs = Date.now() - 2 * count;
    return Array.from({
        length: Math.ceil(count / EVENTS_PER_CALL)
    }, (_, batch)=>Array.from({
            length: EVENTS_PER_CALL
        }, (_, i)=>eventAt(batch * EVENTS_PER_CALL + i, startMs)));
}
async function appended(log, count) {
    const left = batches(count);
    const events = left.length * EVENTS_PER_CALL;
    const started = performance.now();
    const work = async ()=>{
        for(let batch = left.pop(); batch !== undefined; batch = left.pop())await log.append(batch);
    };
    await Promise.all(Array.from({
        length: CALLS_AT_ONCE
    }, work));
    return 1000 * events / (performance.now() - started);
}
/** The topic is filled first: what is measured is the service that takes it. */ async function throughTopic(store, places, broker, count) {
    const total = await fill(broker, count);
    const service = await ServiceChild.start({
        broker,
        delayMs: 0,
        store,
        ...places
    });
    try {
        const started = performance.now();
        const first = await addedAt(service);
        for(let added = first;; added = await addedAt(service)){
            if (added >= total) break;
            await after(POLL_MS);
        }
        return 1000 * (total - first) / (performance.now() - started);
    } finally{
        await service.stop();
    }
}
async function addedAt(service) {
    const text = await (await fetch(`${service.at.httpUrl}/metrics`)).text();
    const line = text.split('\n').find((candidate)=>candidate.startsWith(`${ADDED} `));
    return line === undefined ? 0 : Number(line.slice(ADDED.length));
}
async function fill(broker, count) {
    const kafka = await kafkaClient({
        clientId: 'bench',
        brokers: [
            broker
        ]
    }, createLog('fatal'));
    const topic = DEFAULT_TOPICS.behavioursTopic;
    await ensureTopics(kafka, [
        topic
    ], {
        createPartitions: PARTITIONS
    });
    const producer = new RecordProducer(kafka);
    const codec = new MessageCodec(protoSchema, `${behaviourEventsPackage}.BehaviourEvent`);
    const all = batches(count);
    for (const events of all){
        const messages = events.map((behaviour)=>({
                key: behaviour.userId,
                value: codec.encode({
                    behaviour: {
                        ...behaviour,
                        scene: {
                            ...behaviour.scene
                        }
                    }
                })
            }));
        await producer.send(topic, messages);
    }
    await producer.close();
    return all.length * EVENTS_PER_CALL;
}

//# sourceMappingURL=ingest.js.map