/** Users whose node was lost: their first answers on another node, against computing. */ import { closeStoreLink, headPool, makeStoreLink } from "../../../libs/engine/src/index.js";
import { StoreThread } from "../../../libs/service/shared-kv/src/index.js";
import { missingFor, startRedisServer } from "../../../libs/testing/src/index.js";
import { SHAPES } from "../../models/model-shape.js";
import { quantile } from "../../result.js";
import { BenchEngine, withEngine } from "../engine/bench-engine.js";
import { probeMachine } from "../engine/machine.js";
const HISTORY = 2000;
const NEW_TOKENS = 8;
const SCENE_TOKENS = 8;
const WIDTH = 32;
const USERS = 5;
const TIER_BYTES = 2 ** 31;
const LINK_MS = 60_000;
const SOONER = 3;
/** Answers may differ by this from what bytes and operations predict. */ const PREDICTED_WITHIN = 1.25;
const MAIN_THREAD_MS = 5;
const MAIN_THREAD_BYTES = 100e6;
/** The tiers of a node that joins: memory, and the store. */ function sharing(address) {
    const link = makeStoreLink(LINK_MS);
    const guard = {
        readMs: LINK_MS,
        writeMs: LINK_MS,
        readMostMs: 60_000,
        writeBytesPerSecond: Number.POSITIVE_INFINITY
    };
    const s3 = {
        endpoint: '',
        region: '',
        isPathStyle: false
    };
    const limits = {
        prefix: 'bench',
        ttlMs: 3_600_000,
        timeoutMs: LINK_MS
    };
    const store = {
        address: `redis://${address}`,
        s3,
        ...limits
    };
    const thread = new StoreThread({
        field: 'address',
        store,
        guard,
        serve: {
            eraseMs: LINK_MS
        },
        link: {
            data: link
        }
    });
    thread.setErasedUntil(0);
    const erasedUntil = ()=>undefined;
    return {
        kv: {
            ...memoryAlone(),
            sharing: {
                links: [
                    link
                ],
                erasedUntil
            }
        },
        close: async ()=>{
            closeStoreLink(link);
            await thread.close();
        }
    };
}
const memoryAlone = ()=>({
        ...headPool(TIER_BYTES),
        storeQueueMax: 1024,
        prefetchQueueMax: 256,
        readThreads: 2
    });
/** After which all users have come. */ const LOADED_MS = 3000;
const nameOf = (user)=>`user-${user}`;
const USER_NAMES = Array.from({
    length: USERS
}, (_, user)=>nameOf(user));
const useOf = (userId, keepTokens)=>({
        userId,
        prefixTokens: 0,
        keepTokens
    });
const promptOf = (engine, user)=>engine.prompt(HISTORY + NEW_TOKENS + SCENE_TOKENS, 500 + user);
const until = async (isSo)=>{
    while(!isSo())await new Promise((resolve)=>setTimeout(resolve, 2));
};
/** Milliseconds of each user's next recall, and the tokens that the store gave. */ async function visits(engine) {
    const all = [];
    await engine.recall({
        tokens: engine.prompt(64, 1),
        width: WIDTH
    });
    for(let user = 0; user < USERS; user += 1){
        const tokens = promptOf(engine, user);
        const begun = performance.now();
        const prefetch = engine.prefetch(nameOf(user));
        const kv = {
            ...useOf(nameOf(user), HISTORY + NEW_TOKENS),
            prefetch
        };
        const answer = await engine.recall({
            tokens,
            width: WIDTH,
            kv
        });
        const found = answer.kv.tiers.find(({ tier })=>tier === 'shared');
        all.push({
            ms: performance.now() - begun,
            shared: found?.tokens ?? 0
        });
    }
    return all;
}
const medianOf = (all)=>quantile(all.map(({ ms })=>ms), 0.5);
/** Node's thread while the store's thread and the engine bring users up. */ async function mainThread(engine) {
    await engine.recall({
        tokens: engine.prompt(64, 1),
        width: WIDTH
    });
    const before = performance.eventLoopUtilization();
    const prefetches = USER_NAMES.map((name)=>engine.prefetch(name));
    await new Promise((resolve)=>setTimeout(resolve, LOADED_MS));
    const { active } = performance.eventLoopUtilization(before);
    for (const prefetch of prefetches)prefetch?.release();
    const bytes = sharedRead(engine);
    if (bytes === 0) throw new Error('expected bytes from the store, got none');
    return active * MAIN_THREAD_BYTES / bytes;
}
const sharedRead = (engine)=>engine.kvPool.metrics().tiers.find(({ tier })=>tier === 'shared')?.readBytes ?? 0;
async function ofShape(name, address, context) {
    const { quick, say } = context;
    const { threads: threadCount } = await probeMachine(quick);
    const open = (kv)=>BenchEngine.open(SHAPES[name], 'bf16', {
            threadCount,
            kv
        }, say);
    say(`${name}: a node puts ${USERS} users of ${HISTORY} tokens into the store`);
    const first = sharing(address);
    await withEngine(open(first.kv), async (engine)=>{
        for(let user = 0; user < USERS; user += 1){
            await engine.append(promptOf(engine, user).subarray(0, HISTORY + 1), useOf(nameOf(user), HISTORY));
        }
        await until(()=>engine.kvPool.metrics().puts >= USERS);
    });
    await first.close();
    say(`${name}: another node answers them`);
    const second = sharing(address);
    let found = [];
    let again = [];
    let rate = 0;
    let blockBytes = 0;
    await withEngine(open(second.kv), async (engine)=>{
        found = await visits(engine);
        again = await visits(engine);
        const { tiers, storedBlockBytes } = engine.kvPool.metrics();
        const shared = tiers.find(({ tier })=>tier === 'shared');
        rate = shared === undefined ? 0 : shared.readBytes / shared.readUs;
        blockBytes = storedBlockBytes;
    });
    await second.close();
    const third = sharing(address);
    let mainMs = 0;
    await withEngine(open(third.kv), async (engine)=>{
        mainMs = await mainThread(engine);
    });
    await third.close();
    say(`${name}: a node without the store computes them`);
    let computed = [];
    await withEngine(open(memoryAlone()), async (engine)=>{
        computed = await visits(engine);
    });
    const loadMs = Math.ceil(HISTORY / 32) * blockBytes / rate / 1000;
    return rowsOf(name, {
        found,
        again,
        computed,
        loadMs,
        mainMs
    });
}
function rowsOf(name, { found, again, computed, loadMs, mainMs }) {
    const [shared, resident, alone] = [
        found,
        again,
        computed
    ].map(medianOf);
    const predicted = resident + loadMs;
    const isSooner = alone / predicted >= SOONER;
    const what = `${name} bf16, ${HISTORY} tokens on another node`;
    const tokens = quantile(found.map((visit)=>visit.shared), 0.5);
    return [
        {
            name: `${what}: tokens from the store`,
            value: tokens,
            unit: 'tokens',
            bar: null
        },
        {
            name: `${what}: computed anew`,
            value: alone,
            unit: 'ms',
            bar: null
        },
        {
            name: `${what}: found on the node itself`,
            value: resident,
            unit: 'ms',
            bar: null
        },
        {
            name: `${what}: found in the store`,
            value: shared,
            unit: 'ms',
            ratio: {
                value: shared / predicted,
                to: 'predicted'
            },
            bar: PREDICTED_WITHIN,
            bound: 'at-most'
        },
        {
            name: `${what}: sooner than computing`,
            value: alone / shared,
            unit: 'x',
            bar: isSooner ? SOONER : null,
            bound: 'at-least'
        },
        {
            name: `${name}: Node's thread while 100 MB come`,
            value: mainMs,
            unit: 'ms',
            bar: MAIN_THREAD_MS,
            bound: 'at-most'
        }
    ];
}
export async function continuityStage(context) {
    const missing = missingFor([
        'redis'
    ]);
    if (missing.length > 0) throw new Error(`${missing.join(', ')}: not installed`);
    const shapes = context.quick ? [
        '8x512'
    ] : [
        '8x512',
        'qwen3-0.6b'
    ];
    const rows = [];
    for (const shape of shapes){
        const server = await startRedisServer([
            '--appendonly',
            'no'
        ]);
        try {
            rows.push(...await ofShape(shape, server.address, context));
        } finally{
            await server.stop();
        }
    }
    return rows;
}

//# sourceMappingURL=continuity.js.map