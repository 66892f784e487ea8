import { SHAPES } from "../../models/model-shape.js";
import { PairEngine } from "./pair-engine.js";
import { distinctTokens, pairs } from "./prompts.js";
const COUNTS = [
    16,
    100
];
const BLOCK_TOKENS = 32;
/** Tokens that a call computes, over those of the trie of its prompts. */ export async function tokensStage({ flags, say }) {
    const threads = flags.integer('threads', 1, 256);
    const engine = await PairEngine.open(SHAPES['8x512'], 'bf16', say, threads);
    try {
        const measurements = [];
        for (const count of COUNTS){
            const prompts = pairs(count, count);
            const before = engine.computedTokens;
            await engine.ask(prompts);
            const computed = engine.computedTokens - before;
            const distinct = distinctTokens(prompts);
            const name = `${count} items of one query, tokens computed`;
            const blocks = distinctTokens(prompts, BLOCK_TOKENS);
            const all = prompts.reduce((sum, prompt)=>sum + prompt.length, 0);
            const ratioTo = (to, value)=>({
                    value: computed / value,
                    to
                });
            const row = {
                name,
                value: computed,
                unit: 'tokens',
                bound: 'at-most'
            };
            measurements.push({
                ...row,
                ratio: ratioTo('distinct tokens', distinct),
                bar: 1
            }, {
                ...row,
                ratio: ratioTo('sharing by whole blocks', blocks),
                bar: null
            }, {
                ...row,
                ratio: ratioTo('every prompt alone', all),
                bar: null
            });
        }
        return measurements;
    } finally{
        await engine.close();
    }
}

//# sourceMappingURL=tokens-stage.js.map