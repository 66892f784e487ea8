import os from "node:os";
import { SHAPES } from "../../models/model-shape.js";
import { absences, isThere, tessera, transformers, withContestants } from "./contestants.js";
import { pairs } from "./prompts.js";
import { oddsRows } from "./relevance-rows.js";
const ITEMS = 16;
const QUERIES = {
    quick: 4,
    full: 13
};
/**
 * The log-odds of two labels on weights that are in BF16 as they are made: what is left between F32
 * and BF16 is arithmetic.
 */ export async function oddsStage({ quick, flags, say }) {
    const threads = flags.integer('threads', 1, 256) ?? os.availableParallelism();
    const form = quick ? 'quick' : 'full';
    const shape = SHAPES[quick ? '8x512' : 'qwen3-0.6b'];
    const peers = [
        transformers('shared', 'f32'),
        transformers('shared', 'bf16')
    ];
    const starts = [
        ...isThere('transformers') ? peers : [],
        tessera('f32'),
        tessera('bf16')
    ];
    const answered = [];
    // One at a time: each has all weights in memory.
    for (const start of starts){
        await withContestants([
            start
        ], {
            shape,
            threads,
            say
        }, async ([one])=>{
            if (one === undefined) return;
            say(`log-odds of ${ITEMS * QUERIES[form]} pairs by ${one.name}`);
            const logits = [];
            for(let query = 0; query < QUERIES[form]; query += 1){
                logits.push(...(await one.ask(pairs(ITEMS, 100 + query))).logits);
            }
            answered.push({
                name: one.name,
                logits
            });
        });
    }
    return [
        ...oddsRows(shape.name, answered),
        ...absences([
            'transformers'
        ])
    ];
}

//# sourceMappingURL=odds-stage.js.map