import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { engineLimits, NativeEngine, NO_ELIGIBILITY, NO_POLICY, openCatalogue } from "../../../libs/engine/src/index.js";
import { POSITIONS } from "../../models/model-shape.js";
import { levelTokens, randomCatalogue, randomPrompt } from "../../models/random-catalogue.js";
import { randomModel } from "../../models/random-model.js";
import { kvNumbersPerPosition } from "./floor.js";
export const ITEMS = 1_000_000;
const BUDGET_US = 600e6;
const WIDTH_MAX = 256;
const ADAPTER_LIMITS = {
    rankMax: 128,
    normMax: 1e4
};
/** Bytes of a weight of the layers and of the head. */ const BYTES = {
    f32: [
        4,
        4
    ],
    bf16: [
        2,
        2
    ],
    w8a8: [
        1,
        2
    ]
};
/** The engine in this process with a random model and catalogue, through the service's own port. */ export class BenchEngine {
    shape;
    computeType;
    engine;
    catalogue;
    random;
    binding;
    openSeconds;
    constructor(shape, computeType, engine, catalogue, random, binding, /** Reading and packing the weights, and measuring what passes cost. */ openSeconds){
        this.shape = shape;
        this.computeType = computeType;
        this.engine = engine;
        this.catalogue = catalogue;
        this.random = random;
        this.binding = binding;
        this.openSeconds = openSeconds;
    }
    static async open(shape, computeType, options, say, items = ITEMS) {
        const modelPath = randomModel(shape, say);
        const random = await randomCatalogue(items, say);
        const catalogue = await openCatalogue(random.snapshotPath);
        try {
            const { vocabulary: _, ...limits } = engineLimits(loadConfig().config.engine);
            const started = performance.now();
            const engine = await NativeEngine.open({
                ...limits,
                promptTokensMax: POSITIONS,
                widthMax: WIDTH_MAX,
                ...options,
                modelPath,
                computeType,
                activationScalesPath: ''
            });
            const seconds = (performance.now() - started) / 1000;
            const binding = engine.bind(catalogue, levelTokens());
            return new BenchEngine(shape, computeType, engine, catalogue, random, binding, seconds);
        } catch (error) {
            catalogue.close();
            throw error;
        }
    }
    get model() {
        return this.engine.model;
    }
    get format() {
        const [weightBytes, headBytes] = BYTES[this.computeType];
        const kvBytes = this.engine.model.kvBytesPerPosition / kvNumbersPerPosition(this.shape);
        return {
            weightBytes,
            headBytes,
            kvBytes
        };
    }
    prompt(length, seed) {
        return randomPrompt(this.random.sids, length, seed);
    }
    recall(ask) {
        const { tokens, width, kv, adapter, scoreNorm = 'full', rowBudget, resultCount = width } = ask;
        const { ranking } = ask;
        return this.engine.recall({
            binding: this.binding,
            promptTokens: tokens,
            adapter,
            ...kv === undefined ? {} : {
                kv
            },
            widths: [
                width
            ],
            rowBudget,
            resultCount,
            ranking,
            itemsPerSid: 1,
            scoreNorm,
            priority: 'normal',
            budgetUs: BUDGET_US
        });
    }
    /** What heads say of items, by their ordinals. */ async rank({ tokens, kv }, items, ranking) {
        const eligibility = Object.assign({
            caps: []
        }, NO_ELIGIBILITY);
        const reach = await this.catalogue.reach({
            eligibility,
            itemPolicy: NO_POLICY
        });
        return this.engine.rank({
            binding: this.binding,
            promptTokens: tokens,
            ...kv === undefined ? {} : {
                kv
            },
            reach,
            items,
            ranking,
            priority: 'normal',
            budgetUs: BUDGET_US
        });
    }
    /** Of items, by their ordinals. */ sids(items) {
        return this.catalogue.view().sids(items);
    }
    async append(tokens, kv) {
        const request = {
            binding: this.binding,
            promptTokens: tokens,
            budgetUs: BUDGET_US
        };
        const use = kv === undefined ? {} : {
            kv
        };
        await this.engine.append({
            ...request,
            ...use,
            priority: 'low'
        });
    }
    loadAdapter(folder) {
        return this.engine.loadAdapter(folder, ADAPTER_LIMITS);
    }
    releaseAdapter(adapter) {
        this.engine.releaseAdapter(adapter);
    }
    adapterArena() {
        return this.engine.adapterArena();
    }
    updateWeights(folder, waitMaxMs) {
        return this.engine.updateWeights(folder, waitMaxMs);
    }
    /** Matrices of one layer, packed. */ get layerBytes() {
        const { hidden, heads, kvHeads, headDim, inner } = this.shape;
        const [weightBytes] = BYTES[this.computeType];
        return weightBytes * hidden * (2 * (heads + kvHeads) * headDim + 3 * inner);
    }
    prefetch(userId) {
        return this.engine.prefetch(this.binding, userId);
    }
    get kvPool() {
        return this.engine.kvPool;
    }
    /** Until what is kept is on disk. */ drain() {
        return this.engine.drain(BUDGET_US / 1000);
    }
    stats() {
        return this.engine.stats();
    }
    async close() {
        await this.engine.close();
        this.catalogue.close();
    }
}
/** Opens, measures and closes, whatever happens in between. */ export async function withEngine(opened, measure) {
    const engine = await opened;
    try {
        return await measure(engine);
    } finally{
        await engine.close();
    }
}

//# sourceMappingURL=bench-engine.js.map