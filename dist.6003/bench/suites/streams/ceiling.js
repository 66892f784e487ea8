import { setTimeout as after } from "node:timers/promises";
import { TesseraClient } from "../../../libs/edge/client/src/index.js";
import { ServiceChild } from "./service-child.js";
import { TopicAsker } from "./topic-asker.js";
const DELAY_MS = 5;
const IN_FLIGHT = 128;
const TICK_MS = 5;
const DEADLINE_MS = 20_000;
const WARM_UP_MS = 1000;
/**
 * Capacity of the service itself where its engine is a fixed delay. The caller is another
 * process; on a machine of few cores it takes its share of them, so time of the service's own
 * process per request is told beside requests per second.
 */ export async function ceiling({ quick, say }, broker) {
    const options = {
        broker,
        delayMs: DELAY_MS,
        store: 'file',
        path: '',
        redis: ''
    };
    const service = await ServiceChild.start(options);
    const { grpcAddress, userIds } = service.at;
    const client = new TesseraClient(grpcAddress);
    const userOf = (at)=>userIds[at % userIds.length];
    const ask = (at)=>client.recall({
            userId: userOf(at)
        }, DEADLINE_MS);
    const topics = await TopicAsker.open(broker, userOf);
    const milliseconds = quick ? 4000 : 20_000;
    try {
        say(`an engine of ${DELAY_MS} ms: as much as goes, over gRPC`);
        await closedLoop(ask, WARM_UP_MS);
        const full = await measured(service, ()=>closedLoop(ask, milliseconds));
        const rate = full.perSecond / 2;
        say(`an engine of ${DELAY_MS} ms: half of that, ${rate.toFixed(0)} recalls/s`);
        const half = await measured(service, ()=>evenly(ask, rate, milliseconds));
        say(`an engine of ${DELAY_MS} ms: as much as goes, over topics`);
        await topics.keepAsking(IN_FLIGHT, WARM_UP_MS);
        const overTopics = await measured(service, ()=>topics.keepAsking(IN_FLIGHT, milliseconds));
        return [
            ...rows('gRPC', full),
            ...rows('gRPC at half of that', half),
            ...rows('topics', overTopics)
        ];
    } finally{
        client.close();
        await topics.close();
        await service.stop();
    }
}
/** `act` resolves with the number of requests that were answered. */ async function measured(service, act) {
    await service.load();
    const started = performance.now();
    const count = await act();
    const seconds = (performance.now() - started) / 1000;
    const { cpuUs, loopDelayMs } = await service.load();
    return {
        perSecond: count / seconds,
        cpuUs: cpuUs / count,
        loopDelayMs
    };
}
/** IN_FLIGHT requests always under way. */ async function closedLoop(ask, milliseconds) {
    const end = performance.now() + milliseconds;
    let count = 0;
    const work = async ()=>{
        while(performance.now() < end){
            count += 1;
            await ask(count);
        }
    };
    await Promise.all(Array.from({
        length: IN_FLIGHT
    }, work));
    return count;
}
/** Requests as they are due, however long the answers take. */ async function evenly(ask, perSecond, milliseconds) {
    const started = performance.now();
    const asked = [];
    for(let nowMs = 0; nowMs < milliseconds; nowMs = performance.now() - started){
        const due = Math.floor(nowMs * perSecond / 1000);
        while(asked.length < due)asked.push(ask(asked.length));
        await after(TICK_MS);
    }
    await Promise.all(asked);
    return asked.length;
}
function rows(name, { perSecond, cpuUs, loopDelayMs }) {
    const stem = `engine of ${DELAY_MS} ms, ${name}`;
    return [
        {
            name: stem,
            value: perSecond,
            unit: 'recalls/s',
            bar: null
        },
        {
            name: `${stem}: time of the process`,
            value: cpuUs,
            unit: 'us/recall',
            bar: null
        },
        {
            name: `${stem}: event loop late, p99`,
            value: loopDelayMs,
            unit: 'ms',
            bar: null
        }
    ];
}

//# sourceMappingURL=ceiling.js.map