import { SHAPES } from "../../models/model-shape.js";
import { BenchEngine, withEngine } from "./bench-engine.js";
const COMPUTE_TYPE = 'bf16';
const USERS = 8;
const WIDTH = 16;
/** Lengths of the common beginning: whole blocks of keys and values, one token less, one more. */ const SHARED_TOKENS = [
    256,
    255,
    257
];
const OWN_TOKENS = 64;
/** Tokens computed for each that differs. */ const BAR = 1;
/** Prompts that begin alike, asked for together: tokens computed against tokens that differ. */ export async function sharingStage({ machine, say }) {
    const options = {
        threadCount: machine.threads,
        batchRequestsMax: USERS
    };
    const opened = BenchEngine.open(SHAPES['8x512'], COMPUTE_TYPE, options, say);
    return withEngine(opened, async (engine)=>{
        const measurements = [];
        for (const shared of SHARED_TOKENS){
            say(`${USERS} prompts that share ${shared} tokens`);
            const prompts = Array.from({
                length: USERS
            }, (_, user)=>Int32Array.from([
                    ...engine.prompt(shared, 7000 + shared),
                    ...engine.prompt(OWN_TOKENS, 7100 + USERS * shared + user)
                ]));
            const before = engine.stats().prefillTokens;
            await Promise.all(prompts.map((tokens)=>engine.recall({
                    tokens,
                    width: WIDTH
                })));
            const computed = engine.stats().prefillTokens - before;
            measurements.push(row(shared, computed, distinctTokens(prompts)));
        }
        return measurements;
    });
}
/** Nodes of the trie that the prompts span. */ export function distinctTokens(prompts) {
    const nodes = new Set();
    for (const prompt of prompts){
        let prefix = '';
        for (const token of prompt){
            prefix += `${token},`;
            nodes.add(prefix);
        }
    }
    return nodes.size;
}
function row(shared, computed, distinct) {
    return {
        name: `${USERS} prompts of ${shared} common and ${OWN_TOKENS} own tokens: computed`,
        value: computed,
        unit: 'tokens',
        ratio: {
            value: computed / distinct,
            to: 'distinct tokens'
        },
        bar: BAR,
        bound: 'at-most'
    };
}

//# sourceMappingURL=sharing.js.map