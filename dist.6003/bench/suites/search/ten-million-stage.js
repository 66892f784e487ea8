import { SHAPES } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
const ITEMS = {
    quick: 1_000_000,
    full: 10_000_000
};
const ROWS = {
    quick: 512,
    full: 2048
};
const PROMPT_TOKENS = 128;
const RESULTS = 50;
const RECALLS = 3;
const MEMORY_BAR_MIB = 64;
const OUTSIDE_BAR = 0.03;
const SAMPLE_MS = 1;
/**
 * A random model over ten million SIDs: its distributions are flat, so that the frontier never
 * falls below the threshold, and the budget alone ends the search.
 */ export async function tenMillionStage({ quick, flags, say }) {
    const items = flags.integer('items', 1, 200_000_000) ?? (quick ? ITEMS.quick : ITEMS.full);
    const rowBudget = quick ? ROWS.quick : ROWS.full;
    const shape = quick ? SHAPES['8x512'] : SHAPES['qwen3-0.6b'];
    say(`${items} SIDs, ${shape.name}, ${rowBudget} rows at most`);
    const opened = BenchEngine.open(shape, 'bf16', {
        threadCount: 1
    }, say, items);
    return withEngine(opened, (engine)=>searches(engine, rowBudget, say));
}
async function searches(engine, rowBudget, say) {
    const tokens = (seed)=>engine.prompt(PROMPT_TOKENS, seed);
    // Touches the catalogue, and what a beam has of keys and values.
    for(let seed = 1; seed <= RECALLS; seed += 1){
        await engine.recall({
            tokens: tokens(seed),
            width: 256
        });
    }
    const answers = [];
    const grown = [];
    for(let seed = 1; seed <= RECALLS; seed += 1){
        // A beam as wide as the budget saves nothing: the search goes on to its end.
        const ask = {
            tokens: tokens(seed),
            width: rowBudget,
            rowBudget,
            resultCount: RESULTS
        };
        const { answer, grownMiB } = await watched(()=>engine.recall(ask));
        say(`${answer.rows} rows, certified ${answer.certified}, gap ${answer.gap}`);
        answers.push(answer);
        grown.push(grownMiB);
    }
    const passes = answers.flatMap((answer)=>answer.passes);
    const outside = passes.map(({ selectUs, forkUs, forwardUs, headUs })=>(selectUs + forkUs) / (forwardUs + headUs));
    const sum = (of)=>passes.reduce((total, pass)=>total + of(pass), 0);
    const share = sum(({ selectUs, forkUs })=>selectUs + forkUs) / sum(({ forwardUs, headUs })=>forwardUs + headUs);
    const prefix = `${engine.shape.name}, a flat model, ${rowBudget} rows`;
    return [
        {
            name: `${prefix}: memory that a search adds, most (keys and values of its rows too)`,
            value: Math.max(...grown),
            unit: 'MiB',
            bar: MEMORY_BAR_MIB,
            bound: 'at-most'
        },
        {
            name: `${prefix}: selection and forks over the model, all passes`,
            value: share,
            unit: '',
            bar: OUTSIDE_BAR,
            bound: 'at-most'
        },
        {
            name: `${prefix}: the same, worst pass`,
            value: quantile(outside, 1),
            unit: '',
            bar: null
        },
        {
            name: `${prefix}: passes of a search`,
            value: passes.length / RECALLS,
            unit: '',
            bar: null
        }
    ];
}
/** The largest resident size while a recall runs, over that before. */ async function watched(recall) {
    const before = process.memoryUsage.rss();
    let most = before;
    const look = ()=>{
        most = Math.max(most, process.memoryUsage.rss());
    };
    const timer = setInterval(look, SAMPLE_MS);
    try {
        const answer = await recall();
        look();
        return {
            answer,
            grownMiB: (most - before) / 2 ** 20
        };
    } finally{
        clearInterval(timer);
    }
}

//# sourceMappingURL=ten-million-stage.js.map