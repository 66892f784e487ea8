import { SHAPES } from "../../models/model-shape.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
import { closedLoop, openLoop } from "../engine/in-flight.js";
import { PairEngine } from "./pair-engine.js";
import { pairs } from "./prompts.js";
import { besideRows } from "./relevance-rows.js";
const CATALOGUE_ITEMS = 100_000;
const PROMPT_TOKENS = 128;
const WIDTH = 32;
/** Of a call that scores texts: what a gate behind a recall asks for. */ const PAIRS = 16;
const CALLS_AT_ONCE = 4;
const LOAD = 0.5;
const ROUNDS = {
    quick: 3,
    full: 10
};
/** Of a slice, of which a round has three. */ const SLICE_MS = {
    quick: 6000,
    full: 10_000
};
const CAPACITY_MS = 5000;
const WARM_UP_RECALLS = 5;
const SEED = 60;
/**
 * One recall at a time, alone and while calls that score texts come at half the rate that their
 * engine can do: both engines in this process with the settings that the service has here.
 */ export async function besideStage({ quick, say }) {
    const form = quick ? 'quick' : 'full';
    const shape = SHAPES['8x512'];
    const opened = BenchEngine.open(shape, 'bf16', {}, say, CATALOGUE_ITEMS);
    return withEngine(opened, async (recalls)=>{
        const pairEngine = await PairEngine.open(shape, 'bf16', say);
        const recall = (at)=>recalls.recall({
                tokens: recalls.prompt(PROMPT_TOKENS, at),
                width: WIDTH
            });
        const score = (at)=>pairEngine.ask(pairs(PAIRS, at));
        try {
            for(let at = 0; at < WARM_UP_RECALLS; at += 1)await recall(at);
            const capacity = await closedLoop(CALLS_AT_ONCE, CAPACITY_MS, score);
            say(`calls of ${PAIRS} pairs alone: ${capacity.toFixed(1)} a second`);
            return [
                {
                    name: `calls of ${PAIRS} pairs alone, ${CALLS_AT_ONCE} at once`,
                    value: capacity,
                    unit: 'calls/s',
                    bar: null
                },
                ...await byTurns(recall, score, LOAD * capacity, {
                    say,
                    form
                })
            ];
        } finally{
            await pairEngine.close();
        }
    });
}
async function byTurns(recall, score, perSecond, { say, form }) {
    const times = {
        alone: [],
        beside: [],
        again: []
    };
    const arrivals = [];
    let next = 0;
    const slice = async (into)=>{
        const ends = performance.now() + SLICE_MS[form];
        while(performance.now() < ends){
            const started = performance.now();
            next += 1;
            await recall(next);
            into.push(performance.now() - started);
        }
    };
    for(let round = 0; round < ROUNDS[form]; round += 1){
        say(`recalls alone, beside relevance, alone: round ${round} of ${ROUNDS[form]}`);
        await slice(times.alone);
        const seed = SEED + round;
        const load = openLoop(perSecond, SLICE_MS[form], seed, (at)=>score(1000 * seed + at));
        await slice(times.beside);
        arrivals.push(await load);
        await slice(times.again);
    }
    return besideRows(times, arrivals);
}

//# sourceMappingURL=beside-stage.js.map