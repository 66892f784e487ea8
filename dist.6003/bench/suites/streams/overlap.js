import { setTimeout as after } from "node:timers/promises";
import { BehaviourStore } from "../../../libs/service/behaviour/src/index.js";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { engineLimits, kvOptions, NativeEngine } from "../../../libs/engine/src/index.js";
import { temporaryFolder } from "../../../libs/testing/src/index.js";
import { SHAPES } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { kvNumbersPerPosition } from "../engine/floor.js";
import { composedRuntime } from "./composed-runtime.js";
import { servedModel, TOKENS_PER_ITEM } from "./served-model.js";
const SHAPE = SHAPES['8x512'];
const ITEMS = 320;
const CATALOGUE_ITEMS = 700;
const BLOCK_TOKENS = 32;
const BF16_BYTES = 2;
const BUDGET_MS = 60_000;
/** Of the time that a load takes when nothing hides it. */ const EXPOSED_BAR = 0.05;
/** Times of the features, as multiples of the load. */ const SLOWER = {
    half: 0.5,
    twice: 2
};
/** Users with histories of one length, which take a stated time to read. */ let SlowStore = class SlowStore extends BehaviourStore {
    userCount;
    delayMs = 0;
    constructor(userCount){
        super(), this.userCount = userCount;
    }
    async history(userId, limit) {
        if (this.delayMs > 0) await after(this.delayMs);
        const first = 31 * Number(userId);
        const behaviours = Array.from({
            length: ITEMS
        }, (_, i)=>({
                itemId: String(1 + (first + 7 * i) % CATALOGUE_ITEMS),
                action: '',
                time: i
            }));
        return limit > 0 ? behaviours.slice(-limit) : [];
    }
    async profile() {
        return {};
    }
    async userIds(limit) {
        return Array.from({
            length: Math.min(limit, this.userCount)
        }, (_, user)=>String(user));
    }
};
/**
 * How much of a load from disk a recall does not wait for, because it begins when the request comes
 * and the features take their time beside it.
 */ export async function overlap({ quick, say }) {
    const users = quick ? 8 : 24;
    const store = new SlowStore(users);
    const folder = temporaryFolder({});
    const { config } = loadConfig();
    const { vocabulary: _, ...limits } = engineLimits(config.engine);
    const engine = await NativeEngine.open({
        modelPath: servedModel(SHAPE, say),
        computeType: 'bf16',
        activationScalesPath: '',
        ...limits,
        kv: poolOptions(users, folder.path)
    });
    const runtime = await composedRuntime({
        modelPath: servedModel(SHAPE, say),
        engine,
        behaviours: store
    });
    const visit = async (delayMs)=>{
        store.delayMs = delayMs;
        const answers = [];
        for (const userId of (await store.userIds(users))){
            answers.push(await recall(runtime, userId));
            await stored(runtime, userId);
        }
        return answers;
    };
    try {
        say(`${users} users with ${ITEMS} items of history: first visit`);
        await visit(0);
        say('second visit, features at once');
        const atOnce = fromDisk(await visit(0));
        const loadMs = medianWait(atOnce) + medianFeatures(atOnce);
        say(`a load takes ${loadMs.toFixed(2)} ms; features of half of that, then of twice that`);
        const half = fromDisk(await visit(SLOWER.half * loadMs));
        const twice = fromDisk(await visit(SLOWER.twice * loadMs));
        return rows(loadMs, half, twice);
    } finally{
        await runtime.close();
        folder.remove();
    }
}
function recall(runtime, userId) {
    return runtime.serving.recall({
        requestId: '',
        userId,
        profile: {},
        scene: {},
        resultCount: 4,
        widths: [
            4
        ],
        itemsPerSid: 0,
        skipUnknownItems: false
    }, {
        signal: new AbortController().signal,
        budgetUs: BUDGET_MS * 1000
    });
}
/** The device holds two users, so that each is on disk alone when its turn comes again. */ function poolOptions(users, path) {
    const blockBytes = BLOCK_TOKENS * kvNumbersPerPosition(SHAPE) * BF16_BYTES;
    const blocks = Math.ceil(ITEMS * TOKENS_PER_ITEM / BLOCK_TOKENS) + 2;
    return {
        ...kvOptions(loadConfig().config),
        versionsBackMax: 0,
        pool: 'on',
        deviceBytes: 2 * blocks * blockBytes,
        hostBytes: 0,
        diskBytes: 2 * users * blocks * blockBytes,
        path
    };
}
/** Until the disk has all of the user: the next one pushes it off the device. */ async function stored(runtime, userId) {
    for(;;){
        const [chain] = runtime.facts.kvPool.inspect(userId);
        if (chain === undefined || chain.durableTokens >= chain.tokens) return;
        await new Promise((resolve)=>setImmediate(resolve));
    }
}
/** @throws Error where what was to be loaded was computed or never left the device */ function fromDisk(answers) {
    const loaded = answers.filter(({ kv, promptTokens })=>(kv.tokensByTier.disk ?? 0) > promptTokens / 2);
    if (2 * loaded.length >= answers.length) return loaded;
    throw new Error(`overlap: ${loaded.length} of ${answers.length} users were loaded from disk`);
}
const medianWait = (answers)=>quantile(answers.map(({ kv })=>kv.waitUs / 1000), 0.5);
const medianFeatures = (answers)=>quantile(answers.map(({ timings })=>(timings.featuresUs + timings.promptUs) / 1000), 0.5);
function rows(loadMs, half, twice) {
    const stem = `${SHAPE.name}, ${ITEMS * TOKENS_PER_ITEM} tokens on disk`;
    const exposed = (answers)=>({
            value: medianWait(answers),
            unit: 'ms',
            ratio: {
                value: medianWait(answers) / loadMs,
                to: 'load'
            }
        });
    const features = (answers)=>medianFeatures(answers).toFixed(1);
    return [
        {
            name: `${stem}: load`,
            value: loadMs,
            unit: 'ms',
            bar: null
        },
        {
            name: `${stem}: wait beside features of ${features(half)} ms`,
            ...exposed(half),
            bar: null
        },
        {
            name: `${stem}: wait beside features of ${features(twice)} ms`,
            ...exposed(twice),
            bar: EXPOSED_BAR,
            bound: 'at-most'
        }
    ];
}

//# sourceMappingURL=overlap.js.map