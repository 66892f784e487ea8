import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SHAPES } from "../../models/model-shape.js";
import { randomModel } from "../../models/random-model.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
const PROMPT_TOKENS = 64;
const WIDTH = 16;
const IN_FLIGHT = 4;
const ITEMS = 20_000;
const WAIT_MAX_MS = 60_000;
const SAMPLE_MS = 2;
/** Anonymous memory that an update may take, in layers of packed weights. */ const LAYERS_BAR = 2;
const QUICK = {
    shapes: [
        '8x512'
    ],
    updates: 4
};
const FULL = {
    shapes: Object.keys(SHAPES),
    updates: 6
};
/** The costs of an update of all weights: delay of recalls meanwhile, and memory. */ export async function weights(context) {
    const { shapes, updates } = context.quick ? QUICK : FULL;
    const threadCount = Number(context.flags.text('threads') ?? 2);
    const measurements = [];
    for (const name of shapes){
        const shape = SHAPES[name];
        const folders = [
            randomModel(shape, context.say),
            otherModel(randomModel(shape, context.say))
        ];
        const options = {
            threadCount,
            batchRequestsMax: IN_FLIGHT
        };
        const opened = BenchEngine.open(shape, 'bf16', options, context.say, ITEMS);
        try {
            await withEngine(opened, async (engine)=>{
                measurements.push(...await measure(engine, folders, updates, context));
            });
        } finally{
            rmSync(folders[1], {
                recursive: true,
                force: true
            });
        }
    }
    return measurements;
}
/** The same model with every seventh weight of the other sign. */ function otherModel(folder) {
    const other = mkdtempSync(join(tmpdir(), 'tessera-weights-'));
    copyFileSync(join(folder, 'config.json'), join(other, 'config.json'));
    const bytes = readFileSync(join(folder, 'model.safetensors'));
    const data = 8 + Number(bytes.readBigUInt64LE(0));
    for(let at = data + 3; at < bytes.length; at += 28)bytes[at] = bytes[at] ^ 0x80;
    writeFileSync(join(other, 'model.safetensors'), bytes);
    return other;
}
/** Bytes of this process that no file stands behind. */ function anonymousBytes() {
    const found = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
    return Number(found?.[1] ?? 0) * 1024;
}
const median = (values)=>quantile([
        ...values
    ], 0.5);
async function measure(engine, folders, updates, { say }) {
    let isOver = false;
    const recalls = [];
    const load = Array.from({
        length: IN_FLIGHT
    }, async (_, worker)=>{
        for(let seed = worker; !isOver; seed += IN_FLIGHT){
            const from = performance.now();
            await engine.recall({
                tokens: engine.prompt(PROMPT_TOKENS, seed),
                width: WIDTH
            });
            recalls.push({
                from,
                to: performance.now()
            });
        }
    });
    const done = [];
    for(let i = 1; i <= updates; i += 1){
        await new Promise((resolve)=>setTimeout(resolve, 1000));
        say(`update ${i} of ${updates}`);
        const before = anonymousBytes();
        let most = before;
        const sampling = setInterval(()=>{
            most = Math.max(most, anonymousBytes());
        }, SAMPLE_MS);
        const from = performance.now();
        const update = await engine.updateWeights(folders[i % 2], WAIT_MAX_MS);
        clearInterval(sampling);
        done.push({
            update,
            from,
            to: performance.now(),
            extraBytes: most - before
        });
    }
    isOver = true;
    await Promise.all(load);
    const latency = (during)=>recalls.filter(({ from, to })=>during === done.some((one)=>from < one.to && to > one.from)).map(({ from, to })=>to - from);
    const name = (what)=>`${engine.shape.name} bf16, ${IN_FLIGHT} in flight: ${what}`;
    const row = (what, value, unit, bar = null)=>({
            name: name(what),
            value,
            unit,
            bar,
            bound: 'at-most'
        });
    return [
        row('update from call to answer', median(done.map(({ from, to })=>to - from)), 'ms'),
        row('waiting for those that run', median(done.map(({ update })=>update.drainedUs)) / 1e3, 'ms'),
        row('nobody runs', median(done.map(({ update })=>update.swappedUs)) / 1e3, 'ms'),
        row('recall without an update, median', median(latency(false)), 'ms'),
        row('longest recall beside an update', Math.max(...latency(true)), 'ms'),
        row('anonymous memory that an update takes', Math.max(...done.map(({ extraBytes })=>extraBytes)) / engine.layerBytes, 'layers', LAYERS_BAR)
    ];
}

//# sourceMappingURL=weights.js.map