import { SHAPES } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "./bench-engine.js";
const COMPUTE_TYPE = 'bf16';
const LONG_TOKENS = 2048;
const SHORT = {
    tokens: 64,
    width: 16
};
const LONG_WIDTH = 32;
const REPETITIONS = {
    quick: 2,
    full: 6
};
const ALONE = 20;
const UNCHUNKED = {
    prefillChunkTokens: LONG_TOKENS,
    batchRowsMax: 2 * LONG_TOKENS,
    passTimeTargetUs: 0
};
const MODES = [
    {
        name: 'in passes of bounded time',
        options: {}
    },
    {
        name: 'in chunks of 512',
        options: {
            prefillChunkTokens: 512,
            passTimeTargetUs: 0
        }
    },
    {
        name: 'in chunks of 128',
        options: {
            prefillChunkTokens: 128,
            passTimeTargetUs: 0
        }
    },
    {
        name: 'in one pass',
        options: UNCHUNKED
    }
];
/** The delay of short recalls that arrive while a long prompt is computed. */ export async function longPromptStage({ quick, machine, say }) {
    const measurements = [];
    for (const { name, options } of MODES){
        say(`a prompt of ${LONG_TOKENS} tokens ${name}`);
        const opened = BenchEngine.open(SHAPES['8x512'], COMPUTE_TYPE, {
            ...options,
            threadCount: machine.threads
        }, say);
        const repetitions = quick ? REPETITIONS.quick : REPETITIONS.full;
        const { alone, beside } = await withEngine(opened, (engine)=>measure(engine, repetitions));
        measurements.push(...rows(name, alone, beside));
    }
    return measurements;
}
async function measure(engine, repetitions) {
    let seed = 5000;
    const short = async ()=>{
        const started = performance.now();
        const tokens = engine.prompt(SHORT.tokens, seed++);
        await engine.recall({
            tokens,
            width: SHORT.width
        });
        return performance.now() - started;
    };
    const alone = [];
    while(alone.length < ALONE)alone.push(await short());
    const beside = [];
    for(let at = 0; at < repetitions; at += 1){
        let isRunning = true;
        const tokens = engine.prompt(LONG_TOKENS, seed++);
        const long = engine.recall({
            tokens,
            width: LONG_WIDTH
        }).finally(()=>{
            isRunning = false;
        });
        while(isRunning)beside.push(await short());
        await long;
    }
    return {
        alone,
        beside
    };
}
function rows(mode, alone, beside) {
    const base = quantile(alone, 0.5);
    const row = (name, value)=>({
            name: `prompt of ${LONG_TOKENS} ${mode}: short recalls, ${name}`,
            value,
            unit: 'ms',
            ratio: {
                value: value / base,
                to: 'alone'
            },
            bar: null
        });
    return [
        row('alone, median', base),
        row('beside it, median', quantile(beside, 0.5)),
        row('beside it, longest', Math.max(...beside))
    ];
}

//# sourceMappingURL=long-prompt.js.map