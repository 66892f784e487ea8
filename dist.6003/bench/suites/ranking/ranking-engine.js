import { headPool } from "../../../libs/engine/src/index.js";
import { temporaryFolder } from "../../../libs/testing/src/index.js";
import { SHAPES } from "../../models/model-shape.js";
import { Random } from "../../models/random.js";
import { randomHeads } from "../../models/random-heads.js";
import { BenchEngine, ITEMS } from "../engine/bench-engine.js";
export const PROMPT_TOKENS = 512;
export const shapeOf = (quick)=>SHAPES[quick ? '8x512' : 'qwen3-0.6b'];
/** Opens, measures and closes, whatever happens in between. */ export async function withRanking({ quick, say }, threadCount, measure) {
    const shape = shapeOf(quick);
    const folder = temporaryFolder({});
    const kvBytesMax = 2 ** 31;
    const kv = headPool(kvBytesMax);
    const options = {
        threadCount,
        adapterBytesMax: 2 ** 24,
        kvBytesMax,
        kv
    };
    const engine = await BenchEngine.open(shape, 'bf16', options, say);
    try {
        randomHeads(folder.path, shape, 1);
        const adapter = await engine.loadAdapter(folder.path);
        return await measure({
            engine,
            ranking: {
                adapter,
                prefix: new Int32Array(),
                suffixes: []
            }
        });
    } finally{
        await engine.close();
        folder.remove();
    }
}
/** Ordinals of different items. */ export function someItems(count, seed) {
    const random = new Random(seed);
    const chosen = new Set();
    while(chosen.size < count)chosen.add(random.below(ITEMS));
    return Uint32Array.from(chosen);
}

//# sourceMappingURL=ranking-engine.js.map