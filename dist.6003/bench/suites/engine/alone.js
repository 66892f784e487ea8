import { SHAPES } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "./bench-engine.js";
import { recallFloors } from "./floor.js";
const MAIN = {
    promptTokens: 512,
    width: 64
};
const QUICK = [
    MAIN
];
const FULL = [
    {
        promptTokens: 128,
        width: 64
    },
    {
        promptTokens: 512,
        width: 32
    },
    MAIN,
    {
        promptTokens: 512,
        width: 256
    },
    {
        promptTokens: 2048,
        width: 64
    }
];
/** A case ends after so many recalls, or after the first one beyond the time that is enough. */ const RECALLS_MAX = 20;
const RECALLS_MIN = 5;
const CASE_MS = {
    quick: 2000,
    full: 3000
};
/** Of the 0.6B shape at 512 tokens and width 64: time over the floor, at most. */ const FLOOR_BARS = {
    f32: 1.25,
    bf16: 1.4,
    w8a8: 1.5
};
/** One recall at a time: time by stage against the floor. */ export async function aloneStage(context) {
    const measurements = [];
    for (const name of context.shapes){
        for (const computeType of context.computeTypes){
            const opened = BenchEngine.open(SHAPES[name], computeType, {
                threadCount: context.machine.threads
            }, context.say);
            measurements.push(...await withEngine(opened, (engine)=>measureAll(engine, context)));
        }
    }
    return measurements;
}
async function measureAll(engine, { quick, machine, say }) {
    const opened = `${engine.shape.name} ${engine.computeType}: opening the engine`;
    const measurements = [
        {
            name: opened,
            value: engine.openSeconds,
            unit: 's',
            bar: null
        }
    ];
    for (const one of quick ? QUICK : FULL){
        const { promptTokens, width } = one;
        say(`${engine.shape.name} ${engine.computeType}: prompt ${promptTokens}, width ${width}`);
        const timings = await repeat(engine, one, quick ? CASE_MS.quick : CASE_MS.full);
        const floors = recallFloors(engine, one, machine.peaks(engine.computeType));
        measurements.push(...rows(engine, one, timings, floors));
    }
    return measurements;
}
/**
 * Prompts differ, so that nothing is remembered from one recall to the next. The first, which
 * touches memory that was not used before, does not count.
 */ async function repeat(engine, { promptTokens, width }, milliseconds) {
    await engine.recall({
        tokens: engine.prompt(promptTokens, 1),
        width
    });
    const timings = [];
    const end = performance.now() + milliseconds;
    const isEnough = ()=>timings.length >= RECALLS_MIN && performance.now() >= end;
    while(timings.length < RECALLS_MAX && !isEnough()){
        const tokens = engine.prompt(promptTokens, 100 + timings.length);
        timings.push((await engine.recall({
            tokens,
            width
        })).timings);
    }
    return timings;
}
function rows({ shape, computeType }, { promptTokens, width }, timings, floors) {
    const prefix = `${shape.name} ${computeType} alone, prompt ${promptTokens}, width ${width}`;
    const median = (name)=>quantile(timings.map((timing)=>timing[name]), 0.5) / 1000;
    const row = (stage, value, floor)=>({
            name: `${prefix}: ${stage}`,
            value,
            unit: 'ms',
            ...floor === undefined ? {} : {
                ratio: {
                    value: value / floor,
                    to: 'floor'
                }
            },
            bar: null
        });
    const isMain = promptTokens === MAIN.promptTokens && width === MAIN.width;
    const whole = floors.prefill + floors.decode + floors.head;
    const recall = row('recall', median('totalUs'), whole);
    const isBarred = isMain && shape.name === SHAPES['qwen3-0.6b'].name;
    const bar = isBarred ? FLOOR_BARS[computeType] : null;
    if (!isMain) return [
        {
            ...recall,
            bar,
            bound: 'at-most'
        }
    ];
    return [
        {
            ...recall,
            bar,
            bound: 'at-most'
        },
        row('prefill', median('prefillUs'), floors.prefill),
        row('decode', median('decodeUs'), floors.decode),
        row('of these projections', median('projectionsUs'), undefined),
        row('of these attention', median('attentionUs'), undefined),
        row('plan', median('planUs'), undefined),
        row('head', median('headUs'), floors.head),
        row('select', median('selectUs'), undefined),
        row('fork', median('forkUs'), undefined),
        row('export', median('exportUs'), undefined)
    ];
}

//# sourceMappingURL=alone.js.map