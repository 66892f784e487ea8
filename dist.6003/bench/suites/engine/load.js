import { SHAPES } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "./bench-engine.js";
import { closedLoop, openLoop } from "./in-flight.js";
const COMPUTE_TYPE = 'bf16';
const WIDTH = 32;
/** Lengths of the prompts, in turn. */ const PROMPT_TOKENS = [
    64,
    128,
    256,
    96,
    192
];
const SHARES = [
    0.3,
    0.6,
    0.9,
    1.2
];
/** Of a load; a tail takes some hundred requests. */ const MILLISECONDS = {
    quick: 2500,
    full: 40_000
};
const IN_FLIGHT = 16;
const SEED = 40;
/** The first one's throughput is what the loads are shares of. */ const MODES = [
    {
        name: 'continuous',
        batching: 'continuous'
    },
    {
        name: 'whole batches',
        batching: 'whole'
    }
];
/**
 * Latency by offered load, as a share of what the engine serves with all places taken, with
 * requests joining between passes and with batches that end before others begin. Of the smaller
 * shape.
 */ export async function loadStage({ quick, machine, say }) {
    const milliseconds = quick ? MILLISECONDS.quick : MILLISECONDS.full;
    const open = (batching)=>BenchEngine.open(SHAPES['8x512'], COMPUTE_TYPE, {
            batching,
            batchRequestsMax: IN_FLIGHT,
            threadCount: machine.threads
        }, say);
    const measurements = [];
    let capacity = 0;
    for (const { name, batching } of MODES){
        await withEngine(open(batching), async (engine)=>{
            say(`${name}: throughput with ${IN_FLIGHT} recalls in flight`);
            const rate = await closedLoop(IN_FLIGHT, milliseconds, (at)=>ask(engine, at));
            if (capacity === 0) capacity = rate;
            measurements.push(throughput(name, rate, capacity));
            for (const share of quick ? SHARES.slice(1, 2) : SHARES){
                say(`${name}: ${(100 * share).toFixed(0)} % of ${capacity.toFixed(1)} recalls/s offered`);
                const arrivals = await openLoop(share * capacity, milliseconds, SEED, (at)=>ask(engine, at));
                measurements.push(...latencies(`${name}, load ${share}`, arrivals));
            }
        });
    }
    return measurements;
}
function ask(engine, at) {
    const length = PROMPT_TOKENS[at % PROMPT_TOKENS.length] ?? 0;
    return engine.recall({
        tokens: engine.prompt(length, 2000 + at),
        width: WIDTH
    });
}
function throughput(mode, rate, continuous) {
    return {
        name: `load: throughput ${mode}`,
        value: rate,
        unit: 'recalls/s',
        ratio: {
            value: rate / continuous,
            to: 'continuous'
        },
        bar: null
    };
}
function latencies(prefix, { latencies: all, refused, rate }) {
    const row = (name, value, unit)=>({
            name: `load: ${prefix}: ${name}`,
            value,
            unit,
            bar: null
        });
    return [
        row('served', rate, 'recalls/s'),
        row('median', quantile(all, 0.5), 'ms'),
        row('p95', quantile(all, 0.95), 'ms'),
        row('p99', quantile(all, 0.99), 'ms'),
        row('refused', refused, 'recalls')
    ];
}

//# sourceMappingURL=load.js.map