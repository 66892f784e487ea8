/**
 * The service among streams while everything around it dies: producers that repeat themselves and
 * come late, callers on topics, users that are erased, and at random times the service, the broker
 * or Redis is killed and comes back. In the end the store holds what a model of all that was sent
 * says, and every request has its answer.
 */ import { until } from "../../libs/testing/src/index.js";
import { Random } from "../../bench/models/random.js";
import { Flags, fail, runCommand } from "../../tools/terminal/command.js";
import { BehaviourModel } from "./behaviour-model.js";
import { OfflineRecall } from "./offline-recall.js";
import { pace } from "./pace.js";
import { Topics } from "./topics.js";
import { Traffic } from "./traffic.js";
import { judge } from "./verdict.js";
import { STORES, World } from "./world.js";
const USAGE = `usage: npm run trial -- [--seed N] [--disturbances N] [--store embedded|redis]

Broker, store and service under traffic, disturbed at random times; ends with 1 and the faults where
something was lost, answered twice or answered otherwise than a model says.
  --seed N            seed of the draws (default: by the clock; printed)
  --disturbances N    how many (default 20)
  --flood N           behaviours of one user in the end (default 10000)
  --store NAME        one store alone (default: both, one after the other)`;
const DISTURBANCES = 20;
const FLOOD = 10_000;
const CALM_MS_MAX = 1500;
const FAULTS_SHOWN = 10;
const say = (line)=>process.stderr.write(`${line}\n`);
async function answered(topics, traffic) {
    const id = await traffic.probe();
    await until(`an answer to ${id}`, ()=>topics.answers.has(id));
}
/** Every kind in turn, in an order of the seed's. */ function* drawDisturbances(world, random, count) {
    let left = [];
    for(let drawn = 0; drawn < count; drawn += 1){
        if (left.length === 0) left = [
            ...world.disturbances
        ];
        yield left.splice(random.below(left.length), 1)[0];
    }
}
async function trial(store, { seed, ...wanted }) {
    const random = new Random(seed);
    const world = await World.start(store, random);
    const topics = new Topics(world.broker.address);
    const model = new BehaviourModel();
    const traffic = new Traffic(world, topics, model, {
        topic: new Random(seed + 1),
        calls: new Random(seed + 2),
        requests: new Random(seed + 3),
        users: new Random(seed + 4)
    });
    const offline = await OfflineRecall.open();
    try {
        await topics.open();
        traffic.begin();
        await answered(topics, traffic);
        for (const disturbance of drawDisturbances(world, random, wanted.disturbances)){
            await pace(random.below(CALM_MS_MAX));
            say(`  ${disturbance}`);
            await world.disturb(disturbance);
            await answered(topics, traffic);
            await traffic.erase();
        }
        await traffic.end();
        await traffic.flood(wanted.flood);
        await until('all topics taken', async ()=>{
            const lags = await Promise.all([
                'behaviours',
                'recall.requests'
            ].map((t)=>topics.lag(t)));
            return lags.every((lag)=>lag === 0);
        });
        await until('all answers', ()=>traffic.asked.every(({ id })=>topics.answers.has(id)));
        const { service, crashes } = world;
        if (service === undefined) throw new Error('the service is not there');
        const { faults, counts } = await judge({
            store,
            traffic,
            topics,
            model,
            offline,
            crashes,
            service
        });
        return {
            faults,
            counts: {
                ...counts,
                evictions: world.evictions.length
            }
        };
    } finally{
        await traffic.end().catch(()=>undefined);
        await topics.close();
        await offline.close();
        await world.stop();
    }
}
await runCommand(USAGE, async (words)=>{
    const kinds = {
        seed: 'text',
        disturbances: 'text',
        flood: 'text',
        store: 'text'
    };
    const flags = Flags.parse(words, kinds);
    const seed = flags.integer('seed', 0, 2 ** 31) ?? Date.now() % 1_000_000;
    const disturbances = flags.integer('disturbances', 0, 100_000) ?? DISTURBANCES;
    const flood = flags.integer('flood', 0, 10_000_000) ?? FLOOD;
    const named = flags.text('store');
    const stores = named === undefined ? STORES : STORES.filter((store)=>store === named);
    if (stores.length === 0) fail('store', `one of ${STORES.join(', ')}`, named ?? '');
    let failed = false;
    for (const store of stores){
        say(`${store}, ${disturbances} disturbances, --seed ${seed}`);
        const { faults, counts } = await trial(store, {
            seed,
            disturbances,
            flood
        });
        const sums = {
            store,
            seed,
            disturbances,
            ...counts,
            faults: faults.length
        };
        console.log(JSON.stringify(sums));
        for (const fault of faults.slice(0, FAULTS_SHOWN))say(`  FAULT ${fault}`);
        failed ||= faults.length > 0;
    }
    if (failed) process.exitCode = 1;
});

//# sourceMappingURL=main.js.map