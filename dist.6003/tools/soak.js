import { setTimeout as after } from "node:timers/promises";
import { TesseraError } from "../libs/ops/errors/src/index.js";
import { createRecallRuntime } from "../libs/service/recall/src/index.js";
import { Flags, runCommand } from "./terminal/command.js";
import { MODEL_FLAGS, runtimeOptions } from "./terminal/model-flags.js";
const USAGE = `usage: npm run soak -- [--seconds N] [flags]

Keeps the engine overloaded with recalls and scores of known users, some of them cancelled, some
with deadlines that cannot be met, and watches its memory. Fails when the memory of the last third
is above that of the second by more than a tenth and 32 MiB, or when a request ends as none may.
  --seconds N          how long (default 600)
  --model DIR, --catalogue FILE, --titles FILE, --users-file FILE, --dtype f32|bf16, --threads N`;
const SECONDS = 600;
const SECONDS_MAX = 86_400;
const USERS = 64;
/** Callers beyond what the queue holds: the rest is refused. */ const OVERLOAD = 2;
const GROWTH_MAX = 1.1;
/** Growth that the heap of a process that has just started may show. */ const GROWTH_SLACK_BYTES = 32 * 2 ** 20;
const SAMPLES = 90;
const ALLOWED = new Set([
    'OK',
    'ENGINE_OVERLOADED',
    'DEADLINE_EXCEEDED',
    'CANCELLED'
]);
const source = (userId)=>({
        requestId: '',
        userId,
        profile: {},
        scene: {},
        skipUnknownItems: true
    });
/** Sends the caller's n-th request: every fifth is cancelled, every seventh has no time. */ async function ask({ runtime, users }, caller, n) {
    const userId = users[(caller * 31 + n) % users.length] ?? '';
    const budgetUs = n % 7 === 6 ? 50 : 5e6;
    const controller = new AbortController();
    const context = {
        signal: controller.signal,
        budgetUs
    };
    if (n % 5 === 4) setImmediate(()=>controller.abort());
    if (n % 3 === 2) {
        await runtime.serving.score({
            ...source(userId),
            items: [
                {
                    itemId: '1'
                },
                {
                    itemId: '2'
                }
            ]
        }, context);
    } else {
        const widths = [
            8 << n % 4
        ];
        await runtime.serving.recall({
            ...source(userId),
            resultCount: 0,
            widths,
            itemsPerSid: 0
        }, context);
    }
}
async function call(soak, caller) {
    for(let n = 0; performance.now() < soak.endMs; n++){
        let code = 'OK';
        let retryAfterMs = 0;
        try {
            await ask(soak, caller, n);
        } catch (thrown) {
            const error = TesseraError.from(thrown);
            code = error.code;
            retryAfterMs = error.retryAfterMs ?? 0;
        }
        soak.outcomes.set(code, (soak.outcomes.get(code) ?? 0) + 1);
        // A refused caller asks again after the hinted time, or at once: both are load.
        if (retryAfterMs > 0) await after(Math.min(retryAfterMs, 20));
    }
}
/** Resident bytes, evenly over the time. */ async function watch(endMs) {
    const samples = [];
    const intervalMs = Math.max(1, (endMs - performance.now()) / SAMPLES);
    while(performance.now() < endMs){
        await after(intervalMs);
        samples.push(process.memoryUsage.rss());
    }
    return samples;
}
function median(values) {
    const sorted = [
        ...values
    ].sort((a, b)=>a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
await runCommand(USAGE, async (words)=>{
    const flags = Flags.parse(words, {
        ...MODEL_FLAGS,
        seconds: 'text'
    });
    const seconds = flags.integer('seconds', 1, SECONDS_MAX) ?? SECONDS;
    const options = runtimeOptions(flags, ()=>undefined);
    const queueCapacity = 32;
    const engine = {
        ...options.engine,
        queueCapacity
    };
    const runtime = await createRecallRuntime({
        ...options,
        engine
    });
    try {
        const endMs = performance.now() + seconds * 1000;
        const users = await runtime.facts.sampleUserIds(USERS);
        const soak = {
            runtime,
            users,
            outcomes: new Map(),
            endMs
        };
        const callers = OVERLOAD * (queueCapacity + engine.batchRequestsMax);
        const calls = Array.from({
            length: callers
        }, (_, caller)=>call(soak, caller));
        const [samples] = await Promise.all([
            watch(endMs),
            ...calls
        ]);
        const third = Math.floor(samples.length / 3);
        const before = median(samples.slice(third, 2 * third));
        const now = median(samples.slice(2 * third));
        const outcomes = Object.fromEntries(soak.outcomes);
        const { prefixReusedTokens, prefillTokens, predictedUs, actualUs } = runtime.facts.engineStats();
        const tokens = {
            prefillTokens,
            prefixReusedTokens,
            predictedUs,
            actualUs
        };
        const memory = {
            secondThirdBytes: before,
            lastThirdBytes: now
        };
        console.log(JSON.stringify({
            seconds,
            callers,
            outcomes,
            ...tokens,
            ...memory
        }));
        const strange = Object.keys(outcomes).filter((code)=>!ALLOWED.has(code));
        if (strange.length > 0) throw new TesseraError('INTERNAL', `requests ended with ${strange}`);
        if (now <= before * GROWTH_MAX + GROWTH_SLACK_BYTES) return;
        throw new TesseraError('INTERNAL', `memory grew from ${before} to ${now} bytes`);
    } finally{
        await runtime.close();
    }
});

//# sourceMappingURL=soak.js.map