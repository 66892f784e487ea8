import { readFileSync } from "node:fs";
import { join } from "node:path";
import { EmbeddedBehaviourLog, parseRetention } from "../../../libs/service/behaviour/src/index.js";
import { loadConfig } from "../../../libs/ops/config/src/index.js";
import { engineLimits, kvOptions, NativeEngine } from "../../../libs/engine/src/index.js";
import { CompiledTemplate, loadTemplate, loadTokenizer } from "../../../libs/service/prompt/src/index.js";
import { createLog } from "../../../libs/ops/telemetry/src/index.js";
import { temporaryFolder } from "../../../libs/testing/src/index.js";
import { MILLISECONDS_PER_HOUR } from "../../../libs/ops/units/src/index.js";
import { KvFollower, OwnPool } from "../../../apps/feature/src/index.js";
import { TINY } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { readCheckins } from "./checkins.js";
import { composedRuntime } from "./composed-runtime.js";
import { daypart, PROMPT_TOKENS_MAX, servedModel } from "./served-model.js";
/** Check-ins closer together are one visit. */ const VISIT_GAP_MS = 30 * 60_000;
const BUDGET_MS = 20_000;
const WIDTH = 4;
const MALAYSIA_HOURS = 8;
const HOURS_PER_DAY = 24;
/** Bytes of the TINY shape's keys and values of one position: two heads' worth of 16 in BF16. */ const BLOCK_BYTES = 32 * 2 * 16 * 2;
const POOLS = [
    {
        name: 'a pool for everybody',
        device: 0.1,
        host: 0.25,
        disk: 2
    },
    {
        name: 'a pool for a tenth',
        device: 0.03,
        host: 0.07,
        disk: 0
    }
];
/**
 * Check-ins replayed in the order of time: at the first of each visit its user is recalled for,
 * then it is stored, and the pool follows or does not. In truth they lie minutes apart, so the
 * replay waits until the pool has followed.
 */ export async function returning({ quick, say }) {
    const checkins = readCheckins(quick ? 120 : 6);
    if (checkins === undefined) {
        say('returning users: left out, ../shared/data/checkins is not there');
        return [];
    }
    const measurements = [];
    for (const pool of quick ? POOLS.slice(0, 1) : POOLS){
        for (const follows of [
            false,
            true
        ]){
            const near = follows ? 'with' : 'without';
            say(`returning users: ${checkins.length} check-ins, ${pool.name}, ${near} near-line append`);
            const returns = await replay(checkins, pool, follows, say);
            measurements.push(...rows(`${pool.name}, ${near} near-line append`, returns));
        }
    }
    return measurements;
}
async function replay(checkins, pool, follows, say) {
    const modelPath = servedModel(TINY, say);
    const folder = temporaryFolder({});
    const behaviourLog = await EmbeddedBehaviourLog.open({
        path: join(folder.path, 'store'),
        retention: parseRetention('*=10000'),
        nowMs: Date.now
    });
    const { config } = loadConfig();
    const { vocabulary: _, ...limits } = engineLimits(config.engine);
    const kv = poolOptions(pool, checkins, join(folder.path, 'kv'));
    const engine = await NativeEngine.open({
        modelPath,
        computeType: 'bf16',
        activationScalesPath: '',
        ...limits,
        kv
    });
    const parts = {
        modelPath,
        engine,
        behaviours: behaviourLog,
        behaviourLog
    };
    const runtime = await composedRuntime(parts);
    try {
        const sceneTokens = await sceneTokensOf(modelPath);
        const following = follows ? new Following(runtime) : undefined;
        return await new Replay(runtime, itemsOf(modelPath), sceneTokens, following).run(checkins);
    } finally{
        await runtime.close();
        folder.remove();
    }
}
let Replay = class Replay {
    runtime;
    items;
    sceneTokens;
    following;
    lastMs = new Map();
    returns = [];
    constructor(runtime, items, sceneTokens, following){
        this.runtime = runtime;
        this.items = items;
        this.sceneTokens = sceneTokens;
        this.following = following;
    }
    async run(checkins) {
        const venues = new Map();
        for (const [at, { userId, timeMs, item }] of checkins.entries()){
            const lastMs = this.lastMs.get(userId);
            this.lastMs.set(userId, timeMs);
            const isReturn = lastMs !== undefined && timeMs - lastMs >= VISIT_GAP_MS;
            if (isReturn) this.note(await this.recall(userId, timeMs));
            if (!venues.has(item)) venues.set(item, this.items[venues.size % this.items.length]);
            const itemId = venues.get(item);
            const event = {
                userId,
                eventId: String(at),
                itemId,
                action: 'checkin',
                timeMs,
                scene: {}
            };
            await this.runtime.operations.behaviourLog?.append([
                event
            ]);
            // Somebody new is recalled for once the service knows of the user.
            if (lastMs === undefined) await this.recall(userId, timeMs);
            else await this.following?.follow(userId);
        }
        return this.returns;
    }
    recall(userId, timeMs) {
        const hour = (timeMs / MILLISECONDS_PER_HOUR + MALAYSIA_HOURS) % HOURS_PER_DAY;
        return this.runtime.serving.recall({
            requestId: '',
            userId,
            profile: {},
            scene: {
                daypart: daypart(hour)
            },
            resultCount: WIDTH,
            widths: [
                WIDTH
            ],
            itemsPerSid: 0,
            skipUnknownItems: false
        }, {
            signal: new AbortController().signal,
            budgetUs: BUDGET_MS * 1000
        });
    }
    note({ kv: { computedTokens }, promptTokens }) {
        const beyondScene = Math.max(0, computedTokens - this.sceneTokens);
        this.returns.push({
            beyondScene,
            computedTokens,
            promptTokens
        });
    }
};
/** The product's follower, and when it is done. */ let Following = class Following {
    runtime;
    onFollowed = ()=>undefined;
    follower;
    constructor(runtime){
        this.runtime = runtime;
        const metrics = {
            countFollowed: ()=>this.onFollowed()
        };
        this.follower = new KvFollower({
            pools: new OwnPool(runtime.serving, (userId)=>runtime.facts.kvPool.holds(userId)),
            metrics,
            log: createLog('fatal'),
            budgetMs: BUDGET_MS
        });
    }
    /** Resolves when the pool has followed, at once for somebody whom it does not hold. */ async follow(userId) {
        if (this.runtime.facts.kvPool.inspect(userId).length === 0) return;
        const followed = new Promise((resolve)=>{
            this.onFollowed = resolve;
        });
        this.follower.follow([
            userId
        ]);
        await followed;
    }
};
function poolOptions(pool, checkins, path) {
    const { config } = loadConfig();
    const counts = new Map();
    for (const { userId } of checkins)counts.set(userId, (counts.get(userId) ?? 0) + 1);
    const blocks = [
        ...counts.values()
    ].reduce((sum, count)=>sum + blocksOf(count), 0);
    const bytes = (share)=>Math.ceil(share * blocks * BLOCK_BYTES);
    // The prompts of running requests lie on the device as well.
    const running = 4 * blocksOf(PROMPT_TOKENS_MAX) * BLOCK_BYTES;
    return {
        ...kvOptions(config),
        versionsBackMax: 0,
        pool: 'on',
        deviceBytes: running + bytes(pool.device),
        hostBytes: bytes(pool.host),
        diskBytes: bytes(pool.disk),
        path
    };
}
const blocksOf = (items)=>Math.ceil((1 + 3 * items) / 32);
function itemsOf(modelPath) {
    const lines = readFileSync(join(modelPath, 'catalogue.jsonl'), 'utf8').trim().split('\n');
    return lines.map((line)=>JSON.parse(line).item_id);
}
/** Tokens of a prompt that are never kept. */ async function sceneTokensOf(modelPath) {
    const template = await loadTemplate(modelPath);
    const compiled = new CompiledTemplate(template, await loadTokenizer(modelPath), [
        1,
        1,
        1
    ]);
    const history = [
        {
            sid: [
                0,
                0,
                0
            ],
            action: '',
            domain: '',
            time: 0
        }
    ];
    const prompt = compiled.render({
        profile: {},
        scene: {},
        history
    }, PROMPT_TOKENS_MAX);
    return prompt.tokens.length - prompt.keepTokens;
}
function rows(name, returns) {
    const scene = returns.filter(({ beyondScene })=>beyondScene === 0).length;
    const sum = (field)=>returns.reduce((total, one)=>total + one[field], 0);
    const beyond = returns.map(({ beyondScene })=>beyondScene);
    return [
        {
            name: `${name}: returns`,
            value: returns.length,
            unit: 'visits',
            bar: null
        },
        {
            name: `${name}: only the scene computed`,
            value: 100 * scene / returns.length,
            unit: '% of returns',
            bar: null
        },
        {
            name: `${name}: computed`,
            value: 100 * sum('computedTokens') / sum('promptTokens'),
            unit: '% of tokens',
            bar: null
        },
        {
            name: `${name}: computed beyond the scene, p99`,
            value: quantile(beyond, 0.99),
            unit: 'tokens',
            bar: null
        }
    ];
}

//# sourceMappingURL=returning.js.map